/* Maps from one rank's lists, of rows, of arbitrary ids, with added ghosts; values between one
 * rank and all. */
#include "support.h"

static void from_one_root(int root) {
  int64_t* owned = malloc(sizeof(int64_t) * (size_t)ranks);
  int64_t* counts = malloc(sizeof(int64_t) * (size_t)ranks);
  int64_t* ids = malloc(sizeof(int64_t) * (size_t)ranks * most_ghosts);
  int64_t all = 0;
  for (int r = 0; r < ranks; ++r) {
    owned[r] = owned_by(r);
    counts[r] = ghosts_of(r, ids + all);
    all += counts[r];
  }
  phl_index_map map = NULL;
  const int here = rank == root;
  GOOD(phl_index_map_create_from_root(MPI_COMM_WORLD, root, here ? ranks : 0, here ? owned : NULL,
      here ? counts : NULL, here ? all : 0, here ? ids : NULL, NULL, &map));
  int64_t wanted[most_ghosts], got[most_ghosts], global, first;
  int32_t owners[most_ghosts], cells, ghosts;
  GOOD(phl_index_map_sizes(map, &cells, &ghosts, &global, &first));
  CHECK(cells == owned_by(rank) && ghosts == ghosts_of(rank, wanted));
  CHECK(global == first_of(ranks) && first == first_of(rank));
  GOOD(phl_index_map_ghosts(map, got, owners));
  for (int i = 0; i < ghosts; ++i) CHECK(got[i] == wanted[i] && owners[i] == owner_of(wanted[i]));
  GOOD(phl_index_map_free(&map));

  counts[0] += 1;
  FAILS(phl_index_map_create_from_root(
            MPI_COMM_WORLD, root, ranks, owned, counts, all, ids, NULL, &map),
      PHL_ERROR_VALUE, "add up");
  FAILS(phl_index_map_create_from_root(
            MPI_COMM_WORLD, root, ranks + 1, owned, counts, all, ids, NULL, &map),
      PHL_ERROR_VALUE, "one entry per rank");
  FAILS(phl_index_map_create_from_root(
            MPI_COMM_WORLD, ranks, ranks, owned, counts, all, ids, NULL, &map),
      PHL_ERROR_VALUE, "does not exist");
  CHECK(map == NULL);
  free(owned);
  free(counts);
  free(ids);
}

static int64_t row_length(int64_t row) { return (row * 7) % 4; }

static void rows_of_entries(void) {
  phl_index_map rows = make_map(), entries = NULL;
  int64_t ids[most_ghosts], counts[512], starts[512] = {0};
  const int ghosts = ghosts_of(rank, ids);
  for (int64_t row = 0; row < first_of(ranks); ++row)
    starts[row + 1] = starts[row] + row_length(row);
  for (int64_t i = 0; i < owned_by(rank); ++i) counts[i] = row_length(first_of(rank) + i);
  GOOD(phl_index_map_create_ragged(rows, owned_by(rank), counts, &entries));
  int32_t owned, ghost_entries, k = 0;
  int64_t first, got[most_ghosts * 4];
  GOOD(phl_index_map_sizes(entries, &owned, &ghost_entries, NULL, &first));
  CHECK(first == starts[first_of(rank)] && owned == starts[first_of(rank + 1)] - first);
  GOOD(phl_index_map_ghosts(entries, got, NULL));
  for (int i = 0; i < ghosts; ++i)
    for (int64_t j = 0; j < row_length(ids[i]); ++j) CHECK(got[k++] == starts[ids[i]] + j);
  CHECK(k == ghost_entries);
  GOOD(phl_index_map_free(&entries));
  FAILS(phl_index_map_create_ragged(rows, owned_by(rank) + 1, counts, &entries), PHL_ERROR_VALUE,
      "row counts");
  counts[0] = -1;
  FAILS(phl_index_map_create_ragged(rows, owned_by(rank), counts, &entries), PHL_ERROR_VALUE,
      "-1 entries");
  counts[0] = row_length(first_of(rank));
  FAILS(phl_index_map_create_ragged(rows, owned_by(rank) + (rank == ranks - 1), counts, &entries),
      PHL_ERROR_VALUE, "row counts"); /* one rank's mistake leaves the rows as they were */
  GOOD(phl_index_map_create_ragged(rows, owned_by(rank), counts, &entries));
  GOOD(phl_index_map_free(&entries));
  GOOD(phl_index_map_free(&rows));
}

/* Rank r owns the ids r, r + ranks, r + 2 ranks. */
static phl_index_map round_robin(void) {
  const int64_t owned[3] = {rank, rank + ranks, rank + 2 * ranks}, ghost = (rank + 1) % ranks;
  phl_index_map map = NULL;
  GOOD(phl_index_map_create_with_ids(MPI_COMM_WORLD, 3, owned, 1, &ghost, ranks == 1, NULL, &map));
  return map;
}

/* The lowest rank with an id owns it: ranks share their first and last ids. */
static void without_owners(void) {
  const int64_t ids[3] = {5 * rank + 5, 5 * rank, -1};
  int32_t cells[3], owned;
  phl_index_map map = NULL;
  GOOD(phl_index_map_create_with_ids(MPI_COMM_WORLD, -1, NULL, 3, ids, 1, NULL, &map));
  GOOD(phl_index_map_localize(map, 3, ids, cells));
  GOOD(phl_index_map_sizes(map, &owned, NULL, NULL, NULL));
  CHECK(owned == 1 + (rank == 0));
  CHECK(cells[0] == (rank == 0) && cells[1] == (rank != 0) && cells[2] == -1);
  GOOD(phl_index_map_free(&map));
}

static void added_ghosts(phl_index_map map) {
  const int64_t wanted[3] = {3 * ranks - 1, 0, 3 * ranks - 1};
  int32_t cells[3];
  int64_t ids[3];
  double x[16] = {0};
  int32_t owned, ghosts;
  GOOD(phl_index_map_add_ghosts(map, 3, wanted));
  GOOD(phl_index_map_sizes(map, &owned, &ghosts, NULL, NULL));
  GOOD(phl_index_map_to_local(map, 3, wanted, cells));
  GOOD(phl_index_map_to_global(map, 3, cells, ids));
  for (int i = 0; i < 3; ++i) CHECK(cells[i] >= 0 && ids[i] == wanted[i]);
  for (int i = 0; i < 3; ++i) x[i] = rank + i * ranks;
  GOOD(phl_map_forward(
      map, &(phl_values){.element = {PHL_FLOAT64, 0, 0}, .owned = {x, owned + ghosts, 0}}, 1));
  for (int i = 0; i < 3; ++i) CHECK(x[cells[i]] == (double)wanted[i]);
  const int64_t outside = 3 * ranks;
  FAILS(phl_index_map_add_ghosts(map, 1, &outside), PHL_ERROR_VALUE, "outside");
}

static void between_one_and_all(
    phl_index_map map, const int64_t* owned_ids, int64_t owned, int64_t global) {
  const phl_element element = {PHL_INT16, 3, 0};
  for (int root = 0; root < ranks; root += ranks > 1 ? ranks - 1 : 1) {
    int16_t* all = calloc((size_t)global * 3 + 1, sizeof *all);
    int16_t* mine = calloc((size_t)owned * 3 + 1, sizeof *mine);
    for (int64_t i = 0; rank == root && i < 3 * global; ++i) all[i] = (int16_t)(i * 3 + 1);
    GOOD(phl_distribute(
        map, root, element, (phl_cells){all, global, 0}, (phl_cells){mine, owned, 0}));
    for (int64_t i = 0; i < owned; ++i)
      for (int c = 0; c < 3; ++c)
        CHECK(mine[3 * i + c] == (int16_t)((3 * owned_ids[i] + c) * 3 + 1));
    for (int64_t i = 0; i < 3 * owned; ++i) mine[i] = (int16_t)(mine[i] + 5);
    GOOD(phl_collate(map, root, element, (phl_cells){mine, owned, 0}, (phl_cells){all, global, 0}));
    for (int64_t i = 0; rank == root && i < 3 * global; ++i) CHECK(all[i] == (int16_t)(i * 3 + 6));
    FAILS(phl_collate(
              map, root, element, (phl_cells){mine, owned, 0}, (phl_cells){all, global + 1, 0}),
        PHL_ERROR_VALUE, "all cells");
    free(all);
    free(mine);
  }
}

/* A ring of two cells per rank, each between its ghosts, of arrays with levels between. */
static void places(void) {
  const int64_t cells = 2 * ranks, first = 2 * rank;
  const int64_t owned_ids[2] = {first, first + 1},
                ghost_ids[2] = {(first + cells - 1) % cells, (first + 2) % cells};
  const int32_t at[2] = {1, 2}, ghosts_at[2] = {0, 3}, twice[2] = {1, 1};
  phl_index_map ring = NULL, map = NULL;
  GOOD(phl_index_map_create_with_ids(MPI_COMM_WORLD, 2, owned_ids, 2, ghost_ids, 1, NULL, &ring));
  GOOD(phl_index_map_create_placed(ring, 2, at, 2, ghosts_at, &map));
  double x[3][5];
  for (int level = 0; level < 3; ++level)
    for (int i = 0; i < 5; ++i) x[level][i] = 100 * level + (double)(first + i - 1);
  phl_values values = {.element = {PHL_FLOAT64, 3, 0},
      .owned = {x, 4, sizeof(double)},
      .component_stride = sizeof x[0]};
  GOOD(phl_map_forward(map, &values, 1));
  for (int level = 0; level < 3; ++level)
    for (int i = 0; i < 5; ++i) {
      const int64_t id = i == 4 ? first + 3 : (first + i - 1 + cells) % cells;
      CHECK(x[level][i] == 100 * level + (double)id);
    }
  int32_t told[2], ghosts_told[2];
  GOOD(phl_index_map_places(map, told, ghosts_told));
  CHECK(told[0] == 1 && told[1] == 2 && ghosts_told[0] == 0 && ghosts_told[1] == 3);
  values.owned.count = 3;
  FAILS(phl_map_forward(map, &values, 1), PHL_ERROR_VALUE, "places up to 3");
  FAILS(phl_collate(map, 0, values.element, values.owned, values.owned), PHL_ERROR_VALUE,
      "the map has places");
  values.owned.count = -1;
  FAILS(phl_map_forward(map, &values, 1), PHL_ERROR_VALUE, "owned has -1 entries");
  values.owned.count = 4;
  FAILS(phl_map_forward(ring, &values, 1), PHL_ERROR_VALUE, "for maps with places");
  values.extents[1] = -1;
  FAILS(phl_map_forward(map, &values, 1), PHL_ERROR_VALUE, "extents[1] is -1");
  FAILS(phl_index_map_places(ring, told, NULL), PHL_ERROR_VALUE, "no places");
  GOOD(phl_index_map_free(&map));
  FAILS(phl_index_map_create_placed(ring, 2, twice, 2, ghosts_at, &map), PHL_ERROR_VALUE,
      "two cells have the place 1");
  GOOD(phl_index_map_free(&ring));
}

/* The last point of each rank is the first one of the next. */
static void neighbor_lists(void) {
  if (ranks < 3) return;
  const int32_t neighbors[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  const int64_t counts[2] = {1, 1}, none_first[2] = {0, 1}, first_only[2] = {1, 0};
  const int32_t shared[2] = {0, 2}, sent[1] = {1}, received[1] = {2};
  phl_index_map map = NULL;
  GOOD(phl_index_map_create_from_neighbors(
      MPI_COMM_WORLD, 2, neighbors, counts, shared, NULL, NULL, NULL, &map));
  int32_t x[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2};
  phl_values values = {.element = {PHL_INT32, 1, 0}, .owned = {x, 3, 0}};
  GOOD(phl_map_reduce_shared(map, PHL_SUM, &values, 1));
  CHECK(x[0] == 10 * rank + 10 * neighbors[0] + 2 && x[1] == 10 * rank + 1);
  CHECK(x[2] == 10 * rank + 2 + 10 * neighbors[1]);
  GOOD(phl_index_map_free(&map));
  GOOD(phl_index_map_create_from_neighbors(
      MPI_COMM_WORLD, 2, neighbors, none_first, sent, first_only, received, NULL, &map));
  GOOD(phl_map_forward(map, &values, 1));
  CHECK(x[2] == 10 * neighbors[0] + 1);
  GOOD(phl_index_map_free(&map));
  FAILS(phl_index_map_create_from_neighbors(MPI_COMM_WORLD, 2, neighbors,
            rank == 0 ? none_first : counts, shared, NULL, NULL, NULL, &map),
      PHL_ERROR_VALUE, "make the two lists equal in length and order");
}

void test_derived_maps(void) {
  places();
  neighbor_lists();
  from_one_root(0);
  from_one_root(ranks - 1);
  rows_of_entries();
  without_owners();

  phl_index_map map = round_robin();
  const int64_t ids[3] = {rank, rank + ranks, rank + 2 * ranks};
  added_ghosts(map);
  between_one_and_all(map, ids, 3, 3 * ranks);
  GOOD(phl_index_map_free(&map));

  map = make_map();
  int64_t block[512];
  for (int64_t i = 0; i < owned_by(rank); ++i) block[i] = first_of(rank) + i;
  between_one_and_all(map, block, owned_by(rank), first_of(ranks));
  GOOD(phl_index_map_free(&map));
}
