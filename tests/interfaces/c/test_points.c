/* Fields on cells, faces and corners in one exchange: stagger, halo width and depth, another rank
 * order, owned ends. */
#include "support.h"

enum { across = 5, layers = 2, deep = 1, fields = 3 };

static const int32_t staggers[fields][2] = {{0, 0}, {1, 0}, {1, 1}};

typedef struct grid {
  int64_t extent[2], lower[2], upper[2]; /* owned cells */
  int at_lower[2], at_upper[2];
} grid;

static double value(int64_t x, int64_t y, int f) {
  return 1000.0 * f + 40.0 * (double)(x + 5) + (double)y;
}

static phl_cartesian make_domain(grid* here) {
  const int64_t extents[2] = {across, 3 * ranks};
  int32_t* table = malloc(sizeof(int32_t) * (size_t)ranks);
  for (int r = 0; r < ranks; ++r) table[r] = ranks - 1 - r;
  phl_cartesian_options options = {.halo_lower = {layers, layers},
      .halo_upper = {layers, layers},
      .process_grid = {1, ranks},
      .ranks = table,
      .boundary = PHL_BOUNDARY_OWNED};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  int32_t place[2];
  GOOD(phl_cartesian_coordinates(domain, rank, place));
  CHECK(place[1] == ranks - 1 - rank);
  GOOD(phl_cartesian_owned(domain, 0, here->lower, here->upper));
  for (int d = 0; d < 2; ++d) {
    here->extent[d] = extents[d];
    here->at_lower[d] = here->lower[d] == 0;
    here->at_upper[d] = here->upper[d] == extents[d];
  }
  options.rank_order = 9;
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "does not exist");
  options.ranks = NULL;
  options.rank_order = PHL_RANKS_OF_COMMUNICATOR;
  FAILS(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain), PHL_ERROR_VALUE,
      "no Cartesian topology");
  free(table);
  return domain;
}

static int64_t cells(const grid* here, int f, int d) {
  return here->upper[d] - here->lower[d] + staggers[f][d] + 2 * layers;
}

/* Owned points, or (`around` = 1) all that is right after an exchange: ghosts within the depth,
 * too. */
static int is_known(const grid* here, int f, int64_t x, int64_t y, int around) {
  const int64_t at[2] = {x, y};
  for (int d = 0; d < 2; ++d) {
    int64_t from = here->lower[d] - (here->at_lower[d] ? deep : 0),
            to = here->upper[d] + (here->at_upper[d] ? staggers[f][d] + deep : 0);
    if (around && !here->at_lower[d]) from -= deep;
    if (around && !here->at_upper[d]) to += staggers[f][d] + deep;
    if (from < -deep) from = -deep;
    if (to > here->extent[d] + staggers[f][d] + deep) to = here->extent[d] + staggers[f][d] + deep;
    if (at[d] < from || at[d] >= to) return 0;
  }
  return 1;
}

static void fill(double* u, const grid* here, int f) {
  for (int64_t x = here->lower[0] - layers, i = 0; i < cells(here, f, 0); ++i, ++x)
    for (int64_t y = here->lower[1] - layers, j = 0; j < cells(here, f, 1); ++j, ++y)
      *u++ = is_known(here, f, x, y, 0) ? value(x, y, f) : -1;
}

static void check(const double* u, const grid* here, int f) {
  for (int64_t x = here->lower[0] - layers, i = 0; i < cells(here, f, 0); ++i, ++x)
    for (int64_t y = here->lower[1] - layers, j = 0; j < cells(here, f, 1); ++j, ++y)
      CHECK(*u++ == (is_known(here, f, x, y, 1) ? value(x, y, f) : -1));
}

void test_points(void) {
  grid here;
  phl_cartesian domain = make_domain(&here);
  phl_field field[fields];
  memset(field, 0, sizeof field);
  double* arrays[fields];
  for (int f = 0; f < fields; ++f) {
    arrays[f] = malloc(sizeof(double) * (size_t)(cells(&here, f, 0) * cells(&here, f, 1)));
    field[f].element.scalar = PHL_FLOAT64;
    field[f].own_depth = 1;
    for (int d = 0; d < 2; ++d) {
      field[f].depth_lower[d] = field[f].depth_upper[d] = deep;
      field[f].stagger[d] = staggers[f][d];
    }
    field[f].cells = arrays[f];
    fill(arrays[f], &here, f);
  }
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, fields, field, NULL, &exchange));
  for (int round = 0; round < 2; ++round) {
    for (int f = 0; f < fields; ++f) fill(arrays[f], &here, f);
    GOOD(phl_exchange_forward(exchange, round == 0 ? NULL : field, round == 0 ? 0 : fields));
    for (int f = 0; f < fields; ++f) check(arrays[f], &here, f);
  }
  int32_t messages;
  GOOD(phl_exchange_traffic(exchange, PHL_FORWARD, NULL, &messages));
  CHECK(messages <= 2);
  field[1].stagger[1] = 1;
  FAILS(phl_exchange_forward(exchange, field, fields), PHL_ERROR_VALUE, "another stagger");
  field[1].stagger[1] = 2;
  phl_exchange wrong = NULL;
  FAILS(phl_exchange_create_cartesian(domain, fields, field, NULL, &wrong), PHL_ERROR_VALUE,
      "a stagger of 2");
  field[1].stagger[1] = 0;
  field[1].depth_upper[0] = 3;
  FAILS(phl_exchange_create_cartesian(domain, fields, field, NULL, &wrong), PHL_ERROR_VALUE,
      "a halo of 3");
  field[1].depth_upper[0] = 2;
  field[1].own_halo = field[1].halo_lower[0] = field[1].halo_upper[0] = field[1].halo_lower[1] =
      field[1].halo_upper[1] = 1;
  FAILS(phl_exchange_create_cartesian(domain, fields, field, NULL, &wrong), PHL_ERROR_VALUE,
      "its array has a halo of 1");
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
  for (int f = 0; f < fields; ++f) free(arrays[f]);
}
