#include "support.h"

int64_t owned_by(int r) { return r % 3 == 1 ? 0 : 5 + 3 * r; }

int64_t first_of(int r) {
  int64_t first = 0;
  for (int before = 0; before < r; ++before) first += owned_by(before);
  return first;
}

int owner_of(int64_t id) {
  int r = 0;
  while (id >= first_of(r + 1)) ++r;
  return r;
}

int ghosts_of(int r, int64_t* ids) {
  const int64_t all = first_of(ranks), others = all - owned_by(r);
  if (others == 0) return 0;
  unsigned state = 12345u + 77u * (unsigned)r;
  for (int i = 0; i < most_ghosts; ++i) {
    state = state * 1664525u + 1013904223u;
    const int64_t place = (int64_t)(state >> 8) % others;
    ids[i] = place < first_of(r) ? place : place + owned_by(r);
  }
  return most_ghosts;
}

phl_index_map make_map(void) {
  int64_t ids[most_ghosts];
  const int count = ghosts_of(rank, ids);
  phl_index_map map = NULL;
  GOOD(phl_index_map_create(MPI_COMM_WORLD, owned_by(rank), count, ids, NULL, &map));
  return map;
}
