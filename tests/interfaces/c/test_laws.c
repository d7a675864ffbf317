/* Stagger x depth x memory order x rank order x ends x blocks: forward exchanges fill ghosts
 * within the depth and write nothing else; forward and reverse are adjoint. */
#include "support.h"

enum { across = 3, layers = 2, most_blocks = 4, most_cells = 16 * 16 };

typedef struct setting {
  int32_t stagger[2];
  int depth, order, rank_order, boundary, periodic, blocks, grid[2];
  int64_t extent[2];
} setting;

typedef struct range {
  int64_t from, to;
} range;

/* Points of a block along a dimension: the array's, those that it owns, and those that are right
 * after an exchange. */
static range held(const setting* s, const int64_t* lower, const int64_t* upper, int d) {
  return (range){lower[d] - layers, upper[d] + s->stagger[d] + layers};
}
static range owned(const setting* s, const int64_t* lower, const int64_t* upper, int d) {
  const int beyond = s->boundary == PHL_BOUNDARY_OWNED ? s->depth : 0;
  range all = {lower[d], upper[d]};
  if (!s->periodic && lower[d] == 0) all.from -= beyond;
  if (!s->periodic && upper[d] == s->extent[d]) all.to += s->stagger[d] + beyond;
  return all;
}
static range known(const setting* s, const int64_t* lower, const int64_t* upper, int d) {
  const int beyond = s->boundary == PHL_BOUNDARY_OWNED ? s->depth : 0;
  range all = {lower[d] - s->depth, upper[d] + s->stagger[d] + s->depth};
  if (!s->periodic && all.from < -beyond) all.from = -beyond;
  if (!s->periodic && all.to > s->extent[d] + s->stagger[d] + beyond)
    all.to = s->extent[d] + s->stagger[d] + beyond;
  return all;
}
static int within(const range* a, int64_t x, int64_t y) {
  return x >= a[0].from && x < a[0].to && y >= a[1].from && y < a[1].to;
}

static double value(const setting* s, int64_t x, int64_t y) {
  if (s->periodic)
    x = (x + 4 * s->extent[0]) % s->extent[0], y = (y + 4 * s->extent[1]) % s->extent[1];
  return (double)((x + 9) * 37 + (y + 9) * 5 + (x + 9) * (y + 9) % 11);
}

/* Calls what follows for all points of block b, `at` being where the array has x, y. */
typedef struct ranges {
  range own[2], right[2], all[2];
} ranges_of_block;
static ranges_of_block ranges_of(const setting* s, const int64_t* lower, const int64_t* upper) {
  ranges_of_block r;
  for (int d = 0; d < 2; ++d)
    r.own[d] = owned(s, lower, upper, d), r.right[d] = known(s, lower, upper, d),
    r.all[d] = held(s, lower, upper, d);
  return r;
}
static int64_t place(const setting* s, const range* all, int64_t x, int64_t y) {
  x -= all[0].from, y -= all[1].from;
  return s->order == PHL_ORDER_C ? x * (all[1].to - all[1].from) + y
                                 : y * (all[0].to - all[0].from) + x;
}
#define EACH_POINT(s, lower, upper) \
  const ranges_of_block r = ranges_of(s, lower, upper); \
  for (int64_t x = r.all[0].from; x < r.all[0].to; ++x) \
    for (int64_t y = r.all[1].from, at = 0; y < r.all[1].to; ++y) \
      if (at = place(s, r.all, x, y), 1)

static double everybody(double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void check_laws(const setting* s, phl_cartesian domain, phl_exchange exchange,
    double u[most_blocks][most_cells], int blocks) {
  static double v[most_blocks][most_cells];
  int64_t lower[most_blocks][2], upper[most_blocks][2];
  double left = 0, right = 0;
  int wrong = 0;
  for (int b = 0; b < blocks; ++b) {
    GOOD(phl_cartesian_owned(domain, b, lower[b], upper[b]));
    EACH_POINT(s, lower[b], upper[b]) u[b][at] = within(r.own, x, y) ? value(s, x, y) : -1;
  }
  GOOD(phl_exchange_forward(exchange, NULL, 0));
  for (int b = 0; b < blocks; ++b) {
    EACH_POINT(s, lower[b], upper[b]) {
      const int there = within(r.right, x, y);
      wrong += u[b][at] != (there ? value(s, x, y) : -1);
      v[b][at] = there ? (double)((rank * 7 + b * 3 + at * 5) % 13) : 0;
      left += there ? u[b][at] * v[b][at] : 0;
    }
    memcpy(u[b], v[b], sizeof v[b]);
  }
  GOOD(phl_exchange_reverse(exchange, PHL_SUM, NULL, 0));
  for (int b = 0; b < blocks; ++b) {
    EACH_POINT(s, lower[b], upper[b])
    right += within(r.own, x, y) ? u[b][at] * value(s, x, y) : 0;
  }
  const double sums[2] = {everybody(left), everybody(right)};
  CHECK(wrong == 0);
  CHECK(sums[0] == sums[1]);
  if (wrong || sums[0] != sums[1])
    fprintf(stderr,
        "    stagger %d %d, depth %d, order %d, ranks %d, boundary %d, periodic %d, blocks "
        "%d\n",
        s->stagger[0], s->stagger[1], s->depth, s->order, s->rank_order, s->boundary, s->periodic,
        s->blocks);
}

static void one_setting(setting* s) {
  static double u[most_blocks][most_cells];
  phl_cartesian_options options = {.halo_lower = {layers, layers},
      .halo_upper = {layers, layers},
      .periodic = {s->periodic, s->periodic},
      .process_grid = {s->grid[0], s->grid[1]},
      .blocks_per_rank = {s->blocks, 1},
      .rank_order = s->rank_order,
      .boundary = s->boundary};
  for (int d = 0; d < 2; ++d) s->extent[d] = across * s->grid[d] * (d == 0 ? s->blocks : 1);
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, s->extent, &options, &domain));
  int32_t blocks = 0;
  GOOD(phl_cartesian_blocks(domain, &blocks));
  CHECK(blocks == s->blocks);
  void* arrays[most_blocks] = {u[0], u[1], u[2], u[3]};
  const phl_field field = {.element = {.scalar = PHL_FLOAT64},
      .order = s->order,
      .own_depth = 1,
      .depth_lower = {s->depth, s->depth},
      .depth_upper = {s->depth, s->depth},
      .stagger = {s->stagger[0], s->stagger[1]},
      .blocks = arrays,
      .block_count = blocks};
  phl_exchange_options plain = PHL_EXCHANGE_OPTIONS_INIT;
  plain.transport = "mpi";
  phl_exchange exchange = NULL;
  GOOD(phl_exchange_create_cartesian(domain, 1, &field, &plain, &exchange));
  check_laws(s, domain, exchange, u, blocks);
  GOOD(phl_exchange_free(&exchange));
  GOOD(phl_cartesian_free(&domain));
}

void test_laws(void) {
  const int grid[2] = {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks};
  const int step =
      ranks <= 2 ? 1 : 23; /* many ranks share few cores here: some of the settings, of all kinds */
  for (int number = 0; number < 4 * 3 * 2 * 2 * 2 * 2 * 2; number += step) {
    int rest = number;
    setting s = {.grid = {grid[0], grid[1]}};
    s.stagger[0] = rest % 2, rest /= 2;
    s.stagger[1] = rest % 2, rest /= 2;
    s.depth = rest % 3, rest /= 3;
    s.order = rest % 2, rest /= 2;
    s.rank_order = rest % 2, rest /= 2;
    s.boundary = rest % 2, rest /= 2;
    s.periodic = rest % 2, rest /= 2;
    s.blocks = 1 + rest % 2;
    if (s.depth + s.stagger[0] + s.stagger[1] > 0)
      one_setting(&s); /* else nothing moves, which is refused */
  }
}
