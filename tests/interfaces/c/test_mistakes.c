/* Bad input returns a status and a message on every rank and never crashes. */
#include "support.h"

static void bad_ghosts(void) {
  phl_index_map map = NULL;
  const int64_t own = rank, outside = first_of(ranks), negative = -1;
  const int last = ranks - 1;
  FAILS(phl_index_map_create_with_ids(MPI_COMM_WORLD, 1, &own, rank == 0, &own, 0, NULL, &map),
      PHL_ERROR_VALUE, "owns");
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 1, 1, &own, NULL, &map)); /* which is not bad */
  GOOD(phl_index_map_free(&map));
  FAILS(phl_index_map_create(MPI_COMM_WORLD, owned_by(rank), rank == last, &outside, NULL, &map),
      PHL_ERROR_VALUE, "outside");
  FAILS(phl_index_map_create(MPI_COMM_WORLD, owned_by(rank), 1, &negative, NULL, &map),
      PHL_ERROR_VALUE, "outside");
  FAILS(phl_index_map_create(MPI_COMM_WORLD, rank == last ? -4 : 3, 0, NULL, NULL, &map),
      PHL_ERROR_VALUE, "-4");
  FAILS(phl_index_map_create(MPI_COMM_WORLD, 3, rank == last ? 2 : 0, NULL, NULL, &map),
      PHL_ERROR_VALUE, "null pointer");
  FAILS(phl_index_map_create(MPI_COMM_WORLD, 3, rank == last ? -2 : 0, NULL, NULL, &map),
      PHL_ERROR_VALUE, "-2 entries");
  FAILS(phl_index_map_create(MPI_COMM_WORLD, 3, 0, NULL, NULL, NULL), PHL_ERROR_VALUE,
      "null pointer");
  FAILS(phl_index_map_create(MPI_COMM_NULL, 3, 0, NULL, NULL, &map), PHL_ERROR_VALUE,
      "MPI_COMM_NULL");
  const int64_t twice[2] = {5, 5};
  FAILS(phl_index_map_create_with_ids(MPI_COMM_WORLD, 2, twice, 0, NULL, 0, NULL, &map),
      PHL_ERROR_VALUE, "more than once");
  CHECK(map == NULL);
}

/* Further ghosts leave a map its options: a transport that carries nothing to other ranks is found
 * by the first exchange; one that does not exist, when the map is made. */
static void options_stay(void) {
  const phl_exchange_options options = {.transport = "loopback"};
  const phl_element element = {PHL_FLOAT64, 1, 0};
  double x[2] = {0};
  const int64_t other = (rank + 1) % ranks;
  int32_t cell;
  for (int localize = 0; localize < 2; ++localize) {
    phl_index_map map = NULL;
    GOOD(phl_index_map_create(MPI_COMM_WORLD, 1, 0, NULL, &options, &map));
    if (localize) GOOD(phl_index_map_localize(map, 1, &other, &cell));
    else GOOD(phl_index_map_add_ghosts(map, 1, &other));
    const phl_cells cells = {x, ranks > 1 ? 2 : 1, 0}, none = {0};
    if (ranks > 1)
      FAILS(phl_map_forward(map, &(phl_values){element, cells, none}, 1), PHL_ERROR_VALUE,
          "loopback");
    GOOD(phl_index_map_free(&map));
  }
  phl_index_map unmade = NULL;
  FAILS(phl_index_map_create(MPI_COMM_WORLD, 1, 0, NULL,
            &(phl_exchange_options){.transport = "carrier_pigeon"}, &unmade),
      PHL_ERROR_VALUE, "carrier_pigeon");
}

static void bad_handles(void) {
  phl_index_map map = make_map(), copy = map, none = NULL;
  phl_cartesian mixed = (phl_cartesian)(void*)map;
  int32_t count;
  FAILS(phl_index_map_free(&none), PHL_ERROR_HANDLE, "null");
  FAILS(phl_index_map_free(NULL), PHL_ERROR_VALUE, "null pointer");
  FAILS(phl_cartesian_blocks(mixed, &count), PHL_ERROR_HANDLE, "another kind");
  FAILS(phl_cartesian_free(&mixed), PHL_ERROR_HANDLE, "another kind");
  GOOD(phl_index_map_free(&map));
  FAILS(phl_index_map_free(&map), PHL_ERROR_HANDLE, "null");
  FAILS(phl_index_map_free(&copy), PHL_ERROR_HANDLE, "freed already");
  phl_index_map other = make_map(); /* takes the place of the first */
  FAILS(phl_index_map_free(&copy), PHL_ERROR_HANDLE, "freed already");
  FAILS(phl_index_map_free((phl_index_map*)(void*)&(uintptr_t){0xdeadbeef1}), PHL_ERROR_HANDLE,
      "freed already");
  GOOD(phl_index_map_free(&other));
}

static void bad_arrays(void) {
  phl_index_map map = make_map();
  int32_t owned, ghosts, cell = -1;
  int64_t id;
  double x[1];
  GOOD(phl_index_map_sizes(map, &owned, &ghosts, NULL, NULL));
  const phl_element element = {PHL_FLOAT64, 1, 0};
  const phl_cells none = {0}, large = {x, owned + ghosts + 1, 0}, null = {NULL, owned + ghosts, 0};
  FAILS(phl_map_forward(map, &(phl_values){element, large, none}, 1), PHL_ERROR_VALUE,
      "cells, but the map needs");
  if (owned + ghosts > 0)
    FAILS(phl_map_forward(map, &(phl_values){element, null, none}, 1), PHL_ERROR_VALUE,
        "null pointer");
  FAILS(phl_map_forward(map, &(phl_values){{42, 1, 0}, large, none}, 1), PHL_ERROR_VALUE,
      "does not exist");
  FAILS(phl_map_forward(map, &(phl_values){{PHL_BYTES, 1, 0}, large, none}, 1), PHL_ERROR_TYPE,
      "bytes");
  FAILS(phl_map_forward(map, &(phl_values){{PHL_INT8, -1, 0}, large, none}, 1), PHL_ERROR_VALUE,
      "components");
  FAILS(phl_index_map_to_global(map, 1, &cell, &id), PHL_ERROR_VALUE, "does not exist");
  FAILS(phl_map_reverse(
            map, PHL_MIN, &(phl_values){{PHL_COMPLEX64, 1, 0}, {x, owned + ghosts, 0}, none}, 1),
      PHL_ERROR_TYPE, "cannot be combined");
  FAILS(phl_map_end(map, &(phl_values){element, {x, owned + ghosts, 0}, none}, 1), PHL_ERROR_VALUE,
      "under way");
  GOOD(phl_index_map_free(&map));
}

/* What fits on each rank and does not fit together. */
static void unlike_ranks(void) {
  if (ranks == 1) return;
  phl_index_map map = NULL, entries = NULL;
  const int last = ranks - 1;
  const int64_t ghost = (2 * rank + 2) % (2 * ranks), counts[2] = {1, rank == last ? -1 : 1};
  double x[9] = {0};
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 2, 1, &ghost, NULL, &map));
  const phl_element element = {PHL_FLOAT64, rank == last ? 3 : 2, 0};
  const phl_cells cells = {x, 3, 0}, none = {0};
  char words[80];
  snprintf(words, sizeof words, "components of field 0 is 2 on rank 0 and 3 on rank %d", last);
  FAILS(phl_map_forward(map, &(phl_values){element, cells, none}, 1), PHL_ERROR_VALUE, words);
  FAILS(phl_map_reverse(map, PHL_SUM, &(phl_values){element, cells, none}, 1), PHL_ERROR_VALUE,
      "differ between ranks");
  FAILS(phl_index_map_create_ragged(map, 2, counts, &entries), PHL_ERROR_VALUE, "-1");
  FAILS(phl_index_map_create_ragged(map, rank == last ? 1 : 2, counts, &entries), PHL_ERROR_VALUE,
      "counts");
  const int64_t owned[1] = {4};
  FAILS(phl_index_map_create_from_root(MPI_COMM_WORLD, 0, 1, owned, owned, 0, NULL, NULL, &entries),
      PHL_ERROR_VALUE, "ranks");
  CHECK(entries == NULL);
  GOOD(phl_index_map_free(&map));
}

/* A call on a map has the time limit of its options. */
static void left_alone(void) {
  if (ranks != 2) return;
  MPI_Comm comm; /* its own: what is pending never ends */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  phl_index_map map = NULL, entries = NULL;
  const phl_exchange_options options = {.transport = "mpi", .timeout_s = 0.5};
  const int64_t counts[1] = {1};
  GOOD(phl_index_map_create(comm, 1, 0, NULL, &options, &map));
  if (rank == 0)
    FAILS(phl_index_map_create_ragged(map, 1, counts, &entries), PHL_ERROR_TIMEOUT,
        "rank 1 has not called");
  MPI_Barrier(MPI_COMM_WORLD);
  GOOD(phl_index_map_free(&map));
}

static void bad_grids(void) {
  phl_cartesian domain = NULL;
  const int64_t extents[4] = {4, 4, 4, 4};
  phl_cartesian_options options = {.process_grid = {ranks + 1, 1}};
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "process grid");
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 0, extents, NULL, &domain), PHL_ERROR_VALUE, "1 to 4");
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 9, extents, NULL, &domain), PHL_ERROR_VALUE, "1 to 4");
  options = (phl_cartesian_options){.neighbors = 7};
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "neighbors 7");
  if (ranks > 1) {
    const int64_t differ[1] = {rank == 0 ? 4 : 5};
    FAILS(phl_cartesian_create(MPI_COMM_WORLD, 1, differ, NULL, &domain), PHL_ERROR_VALUE,
        "differ between ranks");
  }
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, NULL, &domain));
  phl_exchange exchange = NULL;
  const phl_field null_field = {.element = {PHL_INT32, 1, 0}};
  FAILS(phl_exchange_create_cartesian(domain, 1, &null_field, NULL, &exchange), PHL_ERROR_VALUE,
      "null pointer");
  FAILS(phl_exchange_create_cartesian(domain, 1, NULL, NULL, &exchange), PHL_ERROR_VALUE,
      "null pointer");
  int32_t cells[256] = {0};
  const phl_field field = {.element = {PHL_INT32, 1, 0}, .cells = cells};
  FAILS(phl_exchange_create_cartesian(
            domain, 1, &field, &(phl_exchange_options){.transport = "carrier_pigeon"}, &exchange),
      PHL_ERROR_VALUE, "carrier_pigeon");
  CHECK(exchange == NULL);
  GOOD(phl_cartesian_free(&domain));
}

/* Fields that share cells, in memory that one rank alone mixes up. */
static void shared_memory(void) {
  const int last = ranks - 1;
  phl_cartesian domain = NULL;
  phl_exchange exchange = NULL;
  const int64_t extents[2] = {6 * ranks, 4};
  const phl_cartesian_options options = {
      .halo_lower = {1, 1}, .halo_upper = {1, 1}, .periodic = {1, 1}, .process_grid = {ranks, 1}};
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  double u[48] = {0}, v[48] = {0};
  const phl_element element = {PHL_FLOAT64, 1, 0};
  phl_field fields[2] = {
      {.element = element, .cells = u}, {.element = element, .cells = rank == last ? u + 10 : v}};
  FAILS(phl_exchange_create_cartesian(domain, 2, fields, NULL, &exchange), PHL_ERROR_VALUE,
      "field 0 and field 1 share memory");
  fields[1].cells = v;
  GOOD(phl_exchange_create_cartesian(
      domain, 2, fields, &(phl_exchange_options){.transport = "mpi"}, &exchange));
  GOOD(phl_exchange_free(&exchange));
  fields[0].own_halo = fields[1].own_halo = 1;  // and no widths
  FAILS(phl_exchange_create_cartesian(domain, 2, fields, NULL, &exchange), PHL_ERROR_VALUE,
      "no field has a halo, though its domain has one");
  fields[0].own_halo = fields[1].own_halo = 0;
  GOOD(phl_cartesian_free(&domain));

  phl_index_map map = NULL;
  const int64_t ghost = (2 * rank + 2) % (2 * ranks);
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 2, ranks > 1, &ghost, NULL, &map));
  phl_field cells[2] = {
      {.element = element, .cells = u}, {.element = element, .cells = rank == last ? u : v}};
  FAILS(phl_exchange_create_index_map(map, 2, cells, NULL, &exchange), PHL_ERROR_VALUE,
      "share memory");
  if (ranks > 1) {
    const phl_cells owned = {u, 2, 0}, inside = {u + 1, 1, 0}, behind = {u + 2, 1, 0};
    FAILS(phl_map_forward(map, &(phl_values){element, owned, inside}, 1), PHL_ERROR_VALUE,
        "share memory");
    FAILS(phl_map_reverse(map, PHL_SUM, &(phl_values){element, owned, inside}, 1), PHL_ERROR_VALUE,
        "share memory");
    GOOD(phl_map_forward(map, &(phl_values){element, owned, behind}, 1));
  }
  const phl_cells mine = {rank == 0 ? u + 1 : v, 2, 0}, all = {u, 2 * ranks, 0};
  FAILS(phl_collate(map, 0, element, mine, all), PHL_ERROR_VALUE, "share memory");
  CHECK(exchange == NULL);
  GOOD(phl_index_map_free(&map));
}

/* A rank without cells has arrays without a layout: it agrees with the others all the same. */
static void rank_without_cells(void) {
  const int last = ranks - 1;
  int64_t *split = calloc((size_t)ranks, sizeof *split), extent = 0;
  for (int r = 0; r < ranks; ++r) extent += split[r] = r == last && ranks > 1 ? 0 : 3;
  phl_cartesian domain = NULL;
  phl_exchange exchange = NULL;
  const phl_cartesian_options options = {.halo_lower = {1},
      .halo_upper = {1},
      .periodic = {1},
      .process_grid = {ranks},
      .splits = {split}};
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 1, &extent, &options, &domain));
  double u[20] = {0};
  const phl_field field = {.element = {PHL_FLOAT64, 4, 0},
      .order = PHL_ORDER_FORTRAN,
      .cells = split[rank] > 0 ? u : NULL};
  GOOD(phl_exchange_create_cartesian(
      domain, 1, &field, &(phl_exchange_options){.transport = "mpi"}, &exchange));
  for (int c = 0; c < 4; ++c) u[5 * c + 1] = u[5 * c + 3] = 10 * c + 1;
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  for (int c = 0; c < 4 && split[rank] > 0; ++c)
    CHECK(u[5 * c] == 10 * c + 1 && u[5 * c + 4] == 10 * c + 1);
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
  free(split);
}

void test_mistakes(void) {
  shared_memory();
  rank_without_cells();
  bad_ghosts();
  options_stay();
  bad_handles();
  bad_arrays();
  bad_grids();
  unlike_ranks();
  left_alone();
  FAILS(phl_release(&failures), PHL_ERROR_HANDLE, "not from phl_allocate");
  FAILS(phl_allocate(-1, NULL), PHL_ERROR_VALUE, "null pointer");
  CHECK(strlen(phl_version()) > 0);
}
