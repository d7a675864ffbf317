/* Owners, neighbors and traffic, compared with values computed from the mesh. */
#include "support.h"

static int count_different(int r, int from) {
  int64_t ids[most_ghosts];
  int count = 0;
  for (int i = 0, n = ghosts_of(r, ids); i < n; ++i) {
    int seen = 0;
    for (int j = 0; j < i; ++j) seen |= ids[j] == ids[i];
    count += !seen && owner_of(ids[i]) == from;
  }
  return count;
}

void test_questions(void) {
  phl_index_map map = make_map();
  int64_t sent = 0, received = 0, expected_sent = 0, expected_received = 0;
  int32_t neighbors, expected_neighbors = 0, list[64];
  GOOD(phl_index_map_traffic(map, &sent, &received));
  GOOD(phl_index_map_neighbors(map, &neighbors, 64, list));
  for (int r = 0; r < ranks; ++r) {
    const int out = count_different(r, rank), in = count_different(rank, r);
    expected_sent += out;
    expected_received += in;
    if (out + in > 0) CHECK(expected_neighbors < neighbors && list[expected_neighbors++] == r);
  }
  CHECK(sent == expected_sent && received == expected_received && neighbors == expected_neighbors);

  const int64_t all = first_of(ranks);
  int64_t ids[512];
  int32_t owners[512];
  for (int64_t i = 0; i < all; ++i) ids[i] = all - 1 - i;
  GOOD(phl_index_map_owners(map, all, ids, owners));
  for (int64_t i = 0; i < all; ++i) CHECK(owners[i] == owner_of(ids[i]));
  FAILS(phl_index_map_owners(map, 1, &all, owners), PHL_ERROR_VALUE, "does not exist");
  GOOD(phl_index_map_free(&map));
}
