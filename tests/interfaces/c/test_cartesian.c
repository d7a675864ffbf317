/* Structured exchanges with one and two fields, private and shared memory; index-map exchanges
 * with fixed arrays. */
#include "support.h"

enum { nx = 7, ny = 6, h = 2 };

static double value(int64_t x, int64_t y, int c) {
  return (double)(((x + nx) % nx) * 100 + (y + ny) % ny) + 0.125 * c;
}

static void check_grid(
    const double* u, const int64_t* lower, const int64_t* upper, int components) {
  for (int64_t x = lower[0]; x < upper[0]; ++x)
    for (int64_t y = lower[1]; y < upper[1]; ++y)
      for (int c = 0; c < components; ++c) CHECK(*u++ == value(x, y, c));
}

static void fill_grid(double* u, const int64_t* owned[2], const int64_t* all[2], int components) {
  for (int64_t x = all[0][0]; x < all[1][0]; ++x)
    for (int64_t y = all[0][1]; y < all[1][1]; ++y)
      for (int c = 0; c < components; ++c) {
        const int inside =
            x >= owned[0][0] && x < owned[1][0] && y >= owned[0][1] && y < owned[1][1];
        *u++ = inside ? value(x, y, c) : -1;
      }
}

/* Arrays that are allocated for one call each. */
static void exchange_other_arrays(phl_exchange exchange, const phl_field made[2],
    const int64_t* owned[2], const int64_t* all[2], int64_t cells) {
  for (int round = 0; round < 3; ++round) {
    double* u = malloc(sizeof(double) * (size_t)cells);
    double* v = malloc(sizeof(double) * 3 * (size_t)cells);
    fill_grid(u, owned, all, 1);
    fill_grid(v, owned, all, 3);
    phl_field others[2] = {made[0], made[1]};
    others[0].cells = u;
    others[1].cells = v;
    if (round == 1) {
      int done = 0;
      GOOD(phl_exchange_begin(exchange, others, 2));
      while (!done) GOOD(phl_exchange_test(exchange, &done));
      GOOD(phl_exchange_end(exchange));
    } else {
      GOOD(phl_exchange_forward(exchange, others, 2));
    }
    check_grid(u, all[0], all[1], 1);
    check_grid(v, all[0], all[1], 3);
    FAILS(phl_exchange_forward(exchange, others, 1), PHL_ERROR_VALUE, "exchange needs 2");
    FAILS(phl_exchange_reverse(exchange, PHL_SUM, NULL, 2), PHL_ERROR_VALUE, "null pointer");
    others[1].element.components = 2;
    FAILS(phl_exchange_forward(exchange, others, 2), PHL_ERROR_VALUE,
        "components per cell, but the exchange needs");
    free(u);
    free(v);
  }
}

/* Two fields of which one, or ghosts less deep, are moved. */
static void exchange_subsets(
    phl_exchange whole, double* u, double* v, const int64_t* owned[2], const int64_t* all[2]) {
  const int32_t second = 1, both[2] = {1, 0}, wrong = 2;
  phl_only only = {.fields = &second, .field_count = 1};
  phl_exchange one = NULL, thin = NULL, same = NULL;
  GOOD(phl_exchange_only(whole, &only, &one));
  GOOD(phl_exchange_prepare(one, NULL, 0));
  fill_grid(u, owned, all, 1);
  fill_grid(v, owned, all, 3);
  GOOD(phl_exchange_forward(one, NULL, 0));
  check_grid(v, all[0], all[1], 3);
  CHECK(u[0] == -1);
  only = (phl_only){.fields = both,
      .field_count = 2,
      .own_depth = 1,
      .depth_lower = {1, 0},
      .depth_upper = {PHL_AS_MADE, 1}};
  GOOD(phl_exchange_only(whole, &only, &thin));
  GOOD(phl_exchange_only(whole, &only, &same));
  const phl_field swapped[2] = {
      {.element = {PHL_FLOAT64, 3, 0}, .cells = v}, {.element = {PHL_FLOAT64, 1, 0}, .cells = u}};
  for (int round = 0; round < 2; ++round) {
    fill_grid(u, owned, all, 1);
    fill_grid(v, owned, all, 3);
    if (round == 0) GOOD(phl_exchange_forward(thin, swapped, 2));
    else GOOD(phl_exchange_begin(same, NULL, 0));
    if (round == 1) GOOD(phl_exchange_end(same));
    const double* next = u;
    for (int64_t x = all[0][0]; x < all[1][0]; ++x)
      for (int64_t y = all[0][1]; y < all[1][1]; ++y) {
        const int there = owned[0][0] < owned[1][0] && owned[0][1] < owned[1][1] &&
                          x >= owned[0][0] - 1 && x < owned[1][0] + h && y >= owned[0][1] &&
                          y < owned[1][1] + 1;
        CHECK(*next++ == (there ? value(x, y, 0) : -1));
      }
  }
  FAILS(phl_exchange_forward(thin, swapped, 1), PHL_ERROR_VALUE, "exchange needs 2");
  only.depth_lower[0] = h + 1;
  FAILS(phl_exchange_only(whole, &only, &same), PHL_ERROR_VALUE,
      "the widest halo of these fields is 2");
  only = (phl_only){.fields = &wrong, .field_count = 1};
  FAILS(phl_exchange_only(whole, &only, &same), PHL_ERROR_VALUE, "there is no field 2");
  FAILS(phl_exchange_only(whole, NULL, &same), PHL_ERROR_VALUE, "only");
  GOOD(phl_exchange_free(&one));
  GOOD(phl_exchange_free(&thin));
  GOOD(phl_exchange_free(&same));
  fill_grid(u, owned, all, 1);
  GOOD(phl_exchange_forward(whole, NULL, 0));
  check_grid(u, all[0], all[1], 1);
}

// The first cell of the array is a ghost beyond both dimensions' ends, which are periodic.
static void compare_with_owners(phl_exchange exchange, double* u) {
  int64_t counts[2] = {-1, -1};
  int32_t told = -1;
  phl_stale_ghost first[2];
  GOOD(phl_exchange_check(exchange, NULL, 0));
  GOOD(phl_exchange_stale(exchange, NULL, 0, counts, 2, first, &told));
  CHECK(counts[0] == 0 && counts[1] == 0 && told == 0);
  const double kept = u[0];
  if (rank == 0) u[0] = kept + 0.5;
  GOOD(phl_exchange_stale(exchange, NULL, 0, counts, 2, first, &told));
  CHECK(counts[0] == (rank == 0) && counts[1] == 0 && told == counts[0]);
  if (told == 1)
    CHECK(first[0].field == 0 && first[0].dimensions == 2 &&
          strcmp(first[0].here, first[0].there) != 0);
  FAILS(phl_exchange_check(exchange, NULL, 0), PHL_ERROR_VALUE, "on its owner");
  u[0] = kept;
}

// What is written too early is told.
static void exchange_with_options(
    phl_cartesian domain, double* u, const phl_field* fields, int64_t cells, int has_cells) {
  phl_exchange_options options = PHL_EXCHANGE_OPTIONS_INIT;
  options.transport = "mpi";
  options.timeout_s = 60;
  options.check = 1;
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 2, fields, &options, &exchange));
  GOOD(phl_exchange_begin(exchange, NULL, 0));
  double* changed = malloc(sizeof(double) * (size_t)cells);
  memcpy(changed, u, sizeof(double) * (size_t)cells);
  for (int64_t i = 0; i < cells; ++i) u[i] = -7;
  if (has_cells)
    FAILS(phl_exchange_end(exchange), PHL_ERROR_VALUE, "was written between begin and end");
  else GOOD(phl_exchange_end(exchange));
  memcpy(u, changed, sizeof(double) * (size_t)cells);
  free(changed);
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  GOOD(phl_exchange_check(exchange, NULL, 0));
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_exchange_create_cartesian(domain, 2, fields, NULL, &exchange));
  GOOD(phl_exchange_retune(exchange, NULL, 0));
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  GOOD(phl_exchange_check(exchange, NULL, 0));
  GOOD(phl_exchange_free(&exchange));
}

static void exchange_grid(phl_cartesian domain) {
  int64_t lower[2], upper[2], low[2], high[2];
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  GOOD(phl_cartesian_extended(domain, 0, low, high));
  const int64_t* owned[2] = {lower, upper};
  const int64_t* all[2] = {low, high};
  CHECK(low[0] == lower[0] - h && high[1] == upper[1] + h);
  const int64_t cells = (high[0] - low[0]) * (high[1] - low[1]);
  double* u = malloc(sizeof(double) * (size_t)cells);
  void* shared = NULL;
  GOOD(phl_allocate(cells * 3 * (int64_t)sizeof(double), &shared));
  double* v = shared;
  fill_grid(u, owned, all, 1);
  fill_grid(v, owned, all, 3);
  const phl_field fields[2] = {
      {.element = {PHL_FLOAT64, 1, 0}, .cells = u}, {.element = {PHL_FLOAT64, 3, 0}, .cells = v}};
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 2, fields, NULL, &exchange));
  GOOD(phl_exchange_begin(exchange, NULL, 0));
  int under_way = 0;
  GOOD(phl_exchange_under_way(exchange, &under_way));
  CHECK(under_way == 1);
  FAILS(phl_exchange_begin(exchange, NULL, 0), PHL_ERROR_VALUE, "under way");
  FAILS(phl_exchange_free(&exchange), PHL_ERROR_VALUE, "under way");
  GOOD(phl_exchange_end(exchange));
  FAILS(phl_exchange_end(exchange), PHL_ERROR_VALUE, "begin first");
  check_grid(u, low, high, 1);
  check_grid(v, low, high, 3);
  exchange_other_arrays(exchange, fields, owned, all, cells);
  exchange_subsets(exchange, u, v, owned, all);
  exchange_with_options(domain, u, fields, cells, lower[0] < upper[0] && lower[1] < upper[1]);
  phl_field elsewhere[2] = {fields[0], fields[1]};
  elsewhere[0].space = PHL_DEVICE;
  FAILS(phl_exchange_forward(exchange, elsewhere, 2), PHL_ERROR_VALUE,
      "memory, but the exchange needs");
  phl_exchange none = NULL;
  FAILS(phl_exchange_create_cartesian(domain, 1, elsewhere, NULL, &none), PHL_ERROR_SYSTEM,
      "no driver of CUDA is in use");
  elsewhere[0].space = 7;
  FAILS(phl_exchange_create_cartesian(domain, 1, elsewhere, NULL, &none), PHL_ERROR_VALUE,
      "memory space 7 does not exist");
  const char* text = NULL;
  GOOD(phl_exchange_explain(exchange, &text));
  CHECK(strstr(text, "transport") != NULL);
  compare_with_owners(exchange, u);
  phl_exchange copy = exchange;
  GOOD(phl_exchange_free(&exchange));
  FAILS(phl_exchange_forward(copy, NULL, 0), PHL_ERROR_HANDLE, "freed already");
  GOOD(phl_release(shared));
  FAILS(phl_release(shared), PHL_ERROR_HANDLE, "released already");
  free(u);
}

static void exchange_cells(void) {
  phl_index_map map = make_map();
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids);
  const int64_t owned = owned_by(rank);
  float* x = calloc((size_t)(owned + 1) * 2, sizeof *x);
  float* g = calloc((size_t)(ghosts + 1) * 2, sizeof *g);
  for (int64_t i = 0; i < 2 * owned; ++i) x[i] = (float)(2 * first_of(rank) + i);
  const phl_field field = {.element = {PHL_FLOAT32, 2, 0}, .cells = x, .ghosts = g};
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_index_map(
      map, 1, &field, &(phl_exchange_options){.transport = "mpi"}, &exchange));
  GOOD(phl_index_map_free(&map));
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  for (int i = 0; i < 2 * ghosts; ++i) CHECK(g[i] == (float)(2 * ids[i / 2] + i % 2));
  float* other = calloc((size_t)(ghosts + 1) * 2, sizeof *other);
  phl_field moved = field;
  moved.ghosts = other;
  GOOD(phl_exchange_forward(exchange, &moved, 1));
  for (int i = 0; i < 2 * ghosts; ++i) CHECK(other[i] == (float)(2 * ids[i / 2] + i % 2));
  moved.ghosts = NULL;
  FAILS(phl_exchange_forward(exchange, &moved, 1), PHL_ERROR_VALUE,
      "ghosts elsewhere than in the constructor");
  free(other);
  phl_exchange one = NULL;
  const int first = 0;
  for (int i = 0; i < 2 * ghosts; ++i) g[i] = -1;
  GOOD(phl_exchange_only(exchange, &(phl_only){.fields = &first, .field_count = 1}, &one));
  GOOD(phl_exchange_forward(one, NULL, 0));
  for (int i = 0; i < 2 * ghosts; ++i) CHECK(g[i] == (float)(2 * ids[i / 2] + i % 2));
  GOOD(phl_exchange_free(&one));
  FAILS(phl_exchange_only(exchange, &(phl_only){.own_depth = 1}, &one), PHL_ERROR_VALUE,
      "have no depth");
  for (int i = 0; i < 2 * ghosts; ++i) g[i] = 1;
  GOOD(phl_exchange_reverse(exchange, PHL_SUM, NULL, 0));
  FAILS(phl_exchange_reverse(exchange, PHL_AND, NULL, 0), PHL_ERROR_TYPE, "cannot be combined");
  FAILS(phl_exchange_reverse(exchange, 77, NULL, 0), PHL_ERROR_VALUE, "does not exist");
  const char* name = NULL;
  GOOD(phl_exchange_transport(exchange, &name));
  CHECK(strstr(name, "mpi") != NULL);
  GOOD(phl_exchange_free(&exchange));
  free(x);
  free(g);
}

static void fill_cells(int32_t* x, int ghosts) {
  for (int64_t i = 0; i < owned_by(rank); ++i) *x++ = (int32_t)(first_of(rank) + i);
  for (int i = 0; i < ghosts; ++i) *x++ = -1;
}

/* Arrays of both groups that no exchange has seen; nothing is in those of the creation any more. */
static void exchange_others_of_groups(
    phl_exchange both, const phl_field made[2], const int64_t* owned[2], const int64_t* all[2]) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids);
  const size_t grid_bytes =
      sizeof(double) * (size_t)((all[1][0] - all[0][0]) * (all[1][1] - all[0][1]));
  const size_t cell_bytes = sizeof(int32_t) * (size_t)(owned_by(rank) + ghosts);
  memset(made[0].cells, 0, grid_bytes);
  memset(made[1].cells, 0, cell_bytes);
  double* u = malloc(grid_bytes);
  int32_t* x = malloc(cell_bytes + 1);
  const phl_field others[2] = {
      {.element = made[0].element, .cells = u}, {.element = made[1].element, .cells = x}};
  for (int round = 0; round < 2; ++round) {
    fill_grid(u, owned, all, 1);
    fill_cells(x, ghosts);
    if (round == 0) GOOD(phl_exchange_forward(both, others, 2));
    else GOOD(phl_exchange_begin(both, others, 2));
    if (round == 1) GOOD(phl_exchange_end(both));
    check_grid(u, all[0], all[1], 1);
    for (int i = 0; i < ghosts; ++i) CHECK(x[owned_by(rank) + i] == (int32_t)ids[i]);
  }
  FAILS(phl_exchange_forward(both, others, 1), PHL_ERROR_VALUE, "exchange needs 2");
  const phl_field swapped[2] = {others[1], others[0]};
  FAILS(phl_exchange_forward(both, swapped, 2), PHL_ERROR_VALUE, "array 0 has elements of type");
  free(u);
  free(x);
}

/* A grid and an index map in one exchange: one message to a neighbor in both. */
static void exchange_groups(phl_cartesian domain) {
  phl_index_map map = make_map();
  int64_t lower[2], upper[2], low[2], high[2], ids[most_ghosts];
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  GOOD(phl_cartesian_extended(domain, 0, low, high));
  const int64_t* owned[2] = {lower, upper};
  const int64_t* all[2] = {low, high};
  double* u = malloc(sizeof(double) * (size_t)((high[0] - low[0]) * (high[1] - low[1])));
  fill_grid(u, owned, all, 1);
  const int ghosts = ghosts_of(rank, ids);
  const int64_t cells = owned_by(rank);
  int32_t* x = calloc((size_t)(cells + ghosts + 1), sizeof *x);
  fill_cells(x, ghosts);
  const phl_field fields[2] = {
      {.element = {PHL_FLOAT64, 1, 0}, .cells = u}, {.element = {PHL_INT32, 1, 0}, .cells = x}};
  const phl_group groups[2] = {{.domain = domain, .field = &fields[0], .fields = 1},
      {.map = map, .field = &fields[1], .fields = 1}};
  phl_exchange both = NULL, grid = NULL, rest = NULL;
  GOOD(phl_exchange_create_groups(2, groups, NULL, &both));
  GOOD(phl_exchange_create_groups(1, groups, &(phl_exchange_options){.transport = "mpi"}, &grid));
  GOOD(phl_exchange_create_index_map(
      map, 1, &fields[1], &(phl_exchange_options){.transport = "mpi"}, &rest));
  int32_t together = 0, of_grid = 0, of_map = 0;
  GOOD(phl_exchange_traffic(both, PHL_FORWARD, NULL, &together));
  GOOD(phl_exchange_traffic(grid, PHL_FORWARD, NULL, &of_grid));
  GOOD(phl_exchange_traffic(rest, PHL_FORWARD, NULL, &of_map));
  CHECK(together >= of_grid && together >= of_map && together <= ranks - 1 &&
        (ranks == 1 || together < of_grid + of_map || of_map == 0));
  GOOD(phl_exchange_forward(both, NULL, 0));
  check_grid(u, low, high, 1);
  for (int i = 0; i < ghosts; ++i) CHECK(x[cells + i] == (int32_t)ids[i]);
  exchange_others_of_groups(both, fields, owned, all);
  const phl_group wrong[2] = {
      groups[0], {.domain = domain, .map = map, .field = &fields[1], .fields = 1}};
  phl_exchange none = NULL;
  FAILS(phl_exchange_create_groups(2, wrong, NULL, &none), PHL_ERROR_VALUE,
      "group 1 needs either a domain or an index map");
  const phl_group half[2] = {
      groups[0], {.map = rank == ranks - 1 ? NULL : map, .field = &fields[1], .fields = 1}};
  FAILS(phl_exchange_create_groups(2, half, NULL, &none), PHL_ERROR_VALUE,
      "group 1 needs either a domain or an index map");
  FAILS(phl_exchange_create_groups(0, groups, NULL, &none), PHL_ERROR_VALUE, "at least one group");
  FAILS(phl_exchange_create_groups(1, NULL, NULL, &none), PHL_ERROR_VALUE, "group");
  GOOD(phl_exchange_free(&both));
  GOOD(phl_exchange_free(&grid));
  GOOD(phl_exchange_free(&rest));
  GOOD(phl_index_map_free(&map));
  free(u);
  free(x);
}

/* The north side is folded: a scalar, and a component of a vector, which turns. */
static void exchange_folded(void) {
  const int64_t extents[2] = {nx, ny};
  for (int32_t pivot = PHL_PIVOT_CORNER; pivot <= PHL_PIVOT_CENTER; ++pivot) {
    const phl_seam north = {.from_axis = 1, .to_axis = 1, .backward = 1 << 0, .pivot = pivot};
    const phl_cartesian_options options = {.halo_lower = {h, h},
        .halo_upper = {h, h},
        .periodic = {1, 0},
        .seams = &north,
        .seam_count = 1};
    phl_cartesian domain = NULL;
    GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
    int64_t low[2], high[2];
    GOOD(phl_cartesian_extended(domain, 0, low, high));
    const int64_t rows = high[1] - low[1], cells = (high[0] - low[0]) * rows;
    double* u = malloc(sizeof(double) * (size_t)cells);
    double* v = malloc(sizeof(double) * (size_t)cells);
    for (int64_t i = 0; i < cells; ++i) {
      const int64_t x = low[0] + i / rows, y = low[1] + i % rows;
      u[i] = v[i] = y < 0 || y >= ny ? -1 : 100. * (double)((x + nx) % nx) + (double)y;
    }
    const phl_field fields[2] = {{.element = {.scalar = PHL_FLOAT64}, .cells = u},
        {.element = {.scalar = PHL_FLOAT64}, .cells = v, .changes_sign = 1}};
    phl_exchange exchange = NULL;
    GOOD(phl_exchange_create_cartesian(domain, 2, fields, NULL, &exchange));
    GOOD(phl_exchange_forward(exchange, NULL, 0));
    int64_t lower[2], upper[2];
    GOOD(phl_cartesian_owned(domain, 0, lower, upper));
    const int is_empty = lower[0] == upper[0] || lower[1] == upper[1];
    for (int64_t i = 0; i < cells && !is_empty; ++i) {
      const int64_t x = low[0] + i / rows, y = low[1] + i % rows;
      if (y < ny) continue;
      const int64_t k = y - ny + 1, from_x = pivot == PHL_PIVOT_CORNER ? nx - 1 - x : nx - x,
                    from_y = pivot == PHL_PIVOT_CORNER ? ny - k : ny - 1 - k;
      const double value = 100. * (double)((from_x + 2 * nx) % nx) + (double)from_y;
      CHECK(u[i] == value && v[i] == -value);
    }
    GOOD(phl_exchange_free(&exchange));
    GOOD(phl_cartesian_free(&domain));
    free(u);
    free(v);
  }
  const phl_seam wrong = {.from_axis = 1, .to_axis = 1, .backward = 1, .pivot = 7};
  const phl_cartesian_options options = {.seams = &wrong, .seam_count = 1};
  phl_cartesian domain = NULL;
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "pivot 7 does not exist");
}

/* A Möbius strip: beyond its ends the other axis runs backward. */
static void exchange_strip(void) {
  const int64_t extents[2] = {nx, ny};
  const phl_seam seam = {.from_axis = 0, .from_side = PHL_LOWER, .to_axis = 0, .backward = 1 << 1};
  const phl_cartesian_options options = {
      .halo_lower = {h, h}, .halo_upper = {h, h}, .seams = &seam, .seam_count = 1};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  int64_t low[2], high[2], lower[2], upper[2];
  GOOD(phl_cartesian_extended(domain, 0, low, high));
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  const int64_t rows = high[1] - low[1], cells = (high[0] - low[0]) * rows;
  int32_t* u = malloc(sizeof(int32_t) * (size_t)cells);
  for (int64_t i = 0; i < cells; ++i)
    u[i] = (int32_t)(100 * (low[0] + i / rows) + low[1] + i % rows);
  const phl_field field = {.element = {.scalar = PHL_INT32}, .cells = u};
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 1, &field, NULL, &exchange));
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  const int is_empty = lower[0] == upper[0] || lower[1] == upper[1];
  for (int64_t i = 0; i < cells && !is_empty; ++i) {
    const int64_t x = low[0] + i / rows, y = low[1] + i % rows;
    if (y < 0 || y >= ny) continue;
    const int is_beyond = x < 0 || x >= nx;
    CHECK(u[i] == 100 * ((x + nx) % nx) + (is_beyond ? ny - 1 - y : y));
  }
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
  free(u);
}

/* Beyond the edges of a cube a component of a vector is the other one, or has another sign. */
static void exchange_cube(void) {
  enum { n = 4 };
  const int64_t extents[3] = {6, n, n};
  phl_seam seams[12];
  GOOD(phl_cube_seams(1, seams));
  const phl_cartesian_options options = {.halo_lower = {0, 1, 1},
      .halo_upper = {0, 1, 1},
      .seams = seams,
      .seam_count = 12,
      .has_tiles = 1};
  phl_cartesian cube = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 3, extents, &options, &cube));
  int64_t low[3], high[3], lower[3], upper[3];
  GOOD(phl_cartesian_extended(cube, 0, low, high));
  GOOD(phl_cartesian_owned(cube, 0, lower, upper));
  const int64_t rows = high[2] - low[2], tile = (high[1] - low[1]) * rows,
                cells = (high[0] - low[0]) * tile;
  int32_t *u = calloc((size_t)cells + 1, sizeof *u), *v = calloc((size_t)cells + 1, sizeof *v);
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t x = low[1] + i % tile / rows, y = low[2] + i % rows;
    if (x < 0 || x >= n || y < 0 || y >= n) continue;
    u[i] = 1;
    v[i] = 2;
  }
  phl_field fields[2] = {
      {.element = {.scalar = PHL_INT32}, .cells = u, .vector = 32768, .along = 1},
      {.element = {.scalar = PHL_INT32}, .cells = v, .vector = 32768, .along = 2}};
  phl_exchange exchange = NULL;
  FAILS(phl_exchange_create_cartesian(cube, 2, fields, NULL, &exchange), PHL_ERROR_VALUE,
      "numbers from 1 to 32767");
  fields[0].vector = fields[1].vector = 1;
  GOOD(phl_exchange_create_cartesian(cube, 2, fields, NULL, &exchange));
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  const int is_empty = lower[0] == upper[0] || lower[1] == upper[1] || lower[2] == upper[2];
  for (int64_t i = 0; i < cells && !is_empty; ++i) {
    const int64_t face = low[0] + i / tile, x = low[1] + i % tile / rows, y = low[2] + i % rows;
    const int beyond_x = x < 0 || x >= n, beyond_y = y < 0 || y >= n;
    const int swaps = face == 1 || face == 3 ? beyond_y : face >= 4 && beyond_x;
    if (beyond_x && beyond_y) CHECK(u[i] == 0 && v[i] == 0);
    else CHECK(abs(u[i]) == (swaps ? 2 : 1) && abs(v[i]) == (swaps ? 1 : 2));
    if (face == 1 && y == n && !beyond_x) CHECK(u[i] == 2 && v[i] == -1);
  }
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&cube));
  free(u);
  free(v);
}

/* Rank 0 has the first two places, all ranks the next ones in turn; the last one is land. */
static void deal_places(void) {
  const int64_t extents[2] = {ranks + 2, 4};
  int32_t* table = calloc(2 * (size_t)ranks + 4, sizeof *table);
  for (int place = 2; place < 2 * ranks + 4; ++place) table[place] = (place - 2) % ranks;
  table[2 * ranks + 3] = -1;
  const phl_cartesian_options options = {.process_grid = {ranks + 2, 2},
      .rank_order = PHL_RANKS_FIRST_FASTEST,
      .ranks = table,
      .rank_count = 2 * ranks + 4};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  int32_t blocks, owner, block;
  GOOD(phl_cartesian_blocks(domain, &blocks));
  CHECK(blocks == (rank == 0 ? 5 : 2));
  GOOD(phl_cartesian_owner(domain, (const int64_t[2]){1, 1}, &owner, &block));
  CHECK(owner == 0 && block == 1);
  GOOD(phl_cartesian_owner(domain, (const int64_t[2]){ranks + 1, 2}, &owner, &block));
  CHECK(owner == -1);
  GOOD(phl_cartesian_free(&domain));
  free(table);
}

/* The second of ranks + 1 places is land. */
static void exchange_around_land(void) {
  const int64_t extents[2] = {3 * (ranks + 1), ny};
  uint8_t* wet = calloc((size_t)extents[0], 1);
  for (int64_t x = 0; x < extents[0]; ++x) wet[x] = x < 1 || x > 5;
  phl_cartesian_options options = {.halo_lower = {h, h},
      .halo_upper = {h, h},
      .process_grid = {ranks + 1, 1},
      .mask = wet,
      .mask_extents = {extents[0], 1}};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  int32_t grid[2], mine[2], owner, block;
  GOOD(phl_cartesian_process_grid(domain, grid, mine));
  CHECK(grid[0] == ranks + 1 && mine[0] == (rank == 0 ? 0 : rank + 1));
  GOOD(phl_cartesian_owner(domain, (const int64_t[2]){4, 0}, &owner, &block));
  CHECK(owner == -1);
  int64_t lower[2], upper[2], low[2], high[2];
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  GOOD(phl_cartesian_extended(domain, 0, low, high));
  const int64_t rows = high[1] - low[1], cells = (high[0] - low[0]) * rows;
  double* u = malloc(sizeof(double) * (size_t)cells);
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t x = low[0] + i / rows, y = low[1] + i % rows;
    u[i] = x < lower[0] || x >= upper[0] || y < 0 || y >= ny ? -1 : value(x, y, 0);
  }
  const phl_field field = {.element = {.scalar = PHL_FLOAT64}, .cells = u};
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 1, &field, NULL, &exchange));
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t x = low[0] + i / rows, y = low[1] + i % rows;
    const int is_wet = x >= 0 && x < extents[0] && (x < 3 || x > 5) && y >= 0 && y < ny;
    CHECK(u[i] == (is_wet ? value(x, y, 0) : -1));
  }
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
  deal_places();
  wet[4] = 1;
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "places with a wet cell");
  options.mask_extents[1] = 2;
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "the mask has");
  for (int64_t x = 0; x < extents[0]; ++x) wet[x] = 1;
  options.mask_extents[1] = 1;
  options.process_grid[0] = options.process_grid[1] = 0;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  GOOD(phl_cartesian_process_grid(domain, grid, mine));
  CHECK(grid[0] * grid[1] == ranks);
  GOOD(phl_cartesian_free(&domain));
  free(u);
  free(wet);
}

void test_cartesian(void) {
  const int64_t extents[2] = {nx, ny};
  const phl_cartesian_options options = {
      .halo_lower = {h, h}, .halo_upper = {h, h}, .periodic = {1, 1}};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  int32_t grid[2], mine[2], blocks, owner, block;
  GOOD(phl_cartesian_process_grid(domain, grid, mine));
  GOOD(phl_cartesian_blocks(domain, &blocks));
  CHECK(grid[0] * grid[1] == ranks && mine[0] * grid[1] + mine[1] == rank && blocks == 1);
  int64_t lower[2], upper[2];
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  if (lower[0] < upper[0] && lower[1] < upper[1]) {
    GOOD(phl_cartesian_owner(domain, lower, &owner, &block));
    CHECK(owner == rank && block == 0);
  }
  FAILS(phl_cartesian_owner(domain, extents, &owner, &block), PHL_ERROR_VALUE, "outside");
  FAILS(phl_cartesian_owned(domain, 1, lower, upper), PHL_ERROR_VALUE, "does not exist");
  exchange_grid(domain);
  exchange_groups(domain);
  GOOD(phl_cartesian_free(&domain));
  FAILS(phl_cartesian_free(&domain), PHL_ERROR_HANDLE, "null");
  exchange_cells();
  exchange_folded();
  exchange_strip();
  exchange_cube();
  exchange_around_land();
}
