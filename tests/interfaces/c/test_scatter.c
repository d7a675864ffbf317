/* Owners get the reduction of all their ghosts' values. */
#include "support.h"

static int64_t ghost_value(int r, int i, int c) { return (r * 31 + i * 7 + c * 3) % 40 - 8; }
static int64_t owned_value(int64_t id, int c) { return (id * 5 + c) % 23; }

static int64_t combine(int64_t a, int64_t b, int reduction) {
  switch (reduction) {
    case PHL_SUM: return a + b;
    case PHL_MIN: return b < a ? b : a;
    case PHL_MAX: return b > a ? b : a;
    case PHL_AND: return a & b;
    case PHL_OR: return a | b;
    default: return b;
  }
}

static int64_t expected(int64_t id, int c, int reduction) {
  int64_t value = owned_value(id, c), ids[most_ghosts];
  for (int r = 0; r < ranks; ++r)
    for (int i = 0, n = ghosts_of(r, ids); i < n; ++i)
      if (ids[i] == id) value = combine(value, ghost_value(r, i, c), reduction);
  return value;
}

#define DEFINE_SCATTER(T, name, scalar_) \
  static void name(phl_index_map map, int reduction, int components, int split) { \
    int64_t ids[most_ghosts]; \
    const int ghosts = ghosts_of(rank, ids); \
    const int64_t owned = owned_by(rank), first = first_of(rank); \
    const phl_element element = {scalar_, components, 0}; \
    T* x = calloc((size_t)((owned + ghosts) * components) + 1, sizeof(T)); \
    for (int64_t i = 0; i < owned; ++i) \
      for (int c = 0; c < components; ++c) x[i * components + c] = (T)owned_value(first + i, c); \
    T* g = x + owned * components; \
    for (int i = 0; i < ghosts; ++i) \
      for (int c = 0; c < components; ++c) g[i * components + c] = (T)ghost_value(rank, i, c); \
    const phl_cells a = {x, owned + ghosts, 0}, none = {0}; \
    if (split) { \
      GOOD(phl_map_begin_reverse(map, reduction, &(phl_values){element, a, none}, 1)); \
      for (int i = 0; i < ghosts * components; ++i) g[i] = (T)99; \
      GOOD(phl_map_end(map, &(phl_values){element, a, none}, 1)); \
    } else GOOD(phl_map_reverse(map, reduction, &(phl_values){element, a, none}, 1)); \
    for (int64_t i = 0; i < owned; ++i) \
      for (int c = 0; c < components; ++c) \
        CHECK(x[i * components + c] == (T)expected(first + i, c, reduction)); \
    free(x); \
  }

DEFINE_SCATTER(int32_t, scatter_int32, PHL_INT32)
DEFINE_SCATTER(int64_t, scatter_int64, PHL_INT64)
DEFINE_SCATTER(int8_t, scatter_int8, PHL_INT8)
DEFINE_SCATTER(float, scatter_float, PHL_FLOAT32)
DEFINE_SCATTER(double, scatter_double, PHL_FLOAT64)

/* Every rank holds points 0 and 1, which rank 0 owns; all get the sum, in the order of ranks. */
static void shared_points(void) {
  phl_index_map map = NULL;
  const int64_t ids[2] = {1, 0};
  GOOD(phl_index_map_create(MPI_COMM_WORLD, rank == 0 ? 2 : 0, rank == 0 ? 0 : 2, ids, NULL, &map));
  double x[2] = {0.1 * (rank + 1), 0.7 * (rank + 1)}, expected[2] = {0.1, 0.7}; /* by point */
  if (rank > 0) x[0] = 0.7 * (rank + 1), x[1] = 0.1 * (rank + 1);
  for (int r = 1; r < ranks; ++r) expected[0] += 0.1 * (r + 1), expected[1] += 0.7 * (r + 1);
  const phl_values values = {.element = {PHL_FLOAT64, 1, 0}, .owned = {x, 2, 0}};
  GOOD(phl_map_prepare(map, &values, 1));
  GOOD(phl_map_prepare_shared(map, &values, 1)); /* neither moves anything */
  GOOD(phl_map_reduce_shared(map, PHL_SUM, &values, 1));
  CHECK(x[rank > 0] == expected[0] && x[rank == 0] == expected[1]);
  GOOD(phl_map_begin_reduce_shared(map, PHL_MAX, &values, 1));
  GOOD(phl_map_end(map, &values, 1));
  CHECK(x[rank > 0] == expected[0]);
  const int64_t wanted[3] = {0, -1, 1};
  int32_t cells[3];
  GOOD(phl_index_map_localize(map, 3, wanted, cells));
  CHECK(cells[0] == (rank > 0) && cells[1] == -1 && cells[2] == (rank == 0));
  GOOD(phl_index_map_free(&map));
}

/* Of the points of the ranks behind it, a rank has those as ghosts, of which one counts, then the
 * other. */
static void masked_ghosts(void) {
  phl_index_map map = NULL, some = NULL;
  phl_exchange exchange = NULL;
  const int64_t next = (rank + 1) % ranks, ids[2] = {2 * next + 1, 2 * next};
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 2, rank == 0 ? 0 : 2, ids, NULL, &map));
  const int ghosts = rank == 0 ? 0 : 2;
  for (int turn = 0; turn < 3; ++turn) {
    int16_t counts[4] = {1, 0, 0, 0};
    double x[4] = {2 * rank, 2 * rank + 1, -1, -1};
    const phl_values mask = {{PHL_INT16, 1, 0}, {counts, 2 + ghosts, 0}, {0}},
                     values = {{PHL_FLOAT64, 1, 0}, {x, 2 + ghosts, 0}, {0}};
    counts[2 + turn % 2] = 256;
    GOOD(turn == 0 ? phl_index_map_create_only(map, &mask, &some)
                   : phl_index_map_update(some, &mask));
    GOOD(phl_map_forward(some, &values, 1));
    if (ghosts > 0) CHECK(x[2 + turn % 2] == (double)ids[turn % 2] && x[3 - turn % 2] == -1);
    GOOD(phl_map_begin_reverse(some, PHL_SUM, &values, 1));
    FAILS(phl_index_map_update(some, &mask), PHL_ERROR_VALUE, "under way");
    GOOD(phl_map_end(some, &values, 1));
    const int odd = turn % 2 == 0, given = (rank + ranks - 1) % ranks != 0 ? 2 : 1;
    CHECK(x[odd] == given * (2 * rank + odd) && x[!odd] == 2 * rank + !odd);
  }
  const phl_values wrong = {{PHL_FLOAT64, 1, 0}, {&(double){0}, 1, 0}, {0}};
  FAILS(phl_index_map_update(some, &wrong), PHL_ERROR_VALUE, "cells");
  FAILS(phl_index_map_update(map, &wrong), PHL_ERROR_VALUE, "not a subset");
  FAILS(phl_index_map_create_only(map, NULL, &some), PHL_ERROR_VALUE, "mask");
  FAILS(phl_index_map_add_ghosts(some, 0, NULL), PHL_ERROR_VALUE, "subset");
  FAILS(phl_exchange_create_index_map(some, 0, NULL, NULL, &exchange), PHL_ERROR_VALUE, "subset");
  GOOD(phl_index_map_free(&some));
  GOOD(phl_index_map_free(&map));
}

void test_scatter(void) {
  shared_points();
  if (ranks > 1) masked_ghosts();
  phl_index_map map = make_map();
  for (int components = 1; components <= 3; ++components) {
    for (int reduction = PHL_SUM; reduction <= PHL_OR; ++reduction) {
      scatter_int32(map, reduction, components, 0);
      scatter_int64(map, reduction, components, 1);
    }
    for (int reduction = PHL_SUM; reduction <= PHL_MAX; ++reduction) {
      scatter_float(map, reduction, components, 1);
      scatter_double(map, reduction, components, 0);
    }
    scatter_int8(map, PHL_MAX, components, 0);
  }
  GOOD(phl_index_map_free(&map));
}
