/* Redistributions, user-defined reductions, push maps, partitions on disk. */
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

enum { nx = 7, ny = 5 };

static double value(int64_t x, int64_t y) { return 100.0 * (double)x + (double)y; }

static phl_cartesian make_grid(int along, int32_t halo, int32_t* stagger) {
  const int64_t extents[2] = {nx, ny};
  phl_cartesian_options options = {
      .halo_lower = {halo, halo}, .halo_upper = {halo, halo}, .process_grid = {1, 1}};
  options.process_grid[along] = ranks;
  phl_cartesian cells = NULL, points = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &cells));
  GOOD(phl_cartesian_staggered(cells, stagger, &points));
  GOOD(phl_cartesian_free(&cells));
  return points;
}

/* Owned points get their value, or `other` all of them; returns the array's size. */
static int64_t fill(phl_cartesian domain, double* u, double other) {
  int64_t lower[2], upper[2], low[2], high[2];
  double* next = u;
  GOOD(phl_cartesian_owned(domain, 0, lower, upper));
  GOOD(phl_cartesian_extended(domain, 0, low, high));
  for (int64_t x = low[0]; x < high[0]; ++x)
    for (int64_t y = low[1]; y < high[1]; ++y)
      *next++ = x >= lower[0] && x < upper[0] && y >= lower[1] && y < upper[1] && other == 0
                    ? value(x, y)
                    : -1;
  return next - u;
}

static void move_grids(void) {
  for (int32_t staggered = 0; staggered < 2; ++staggered) {
    int32_t stagger[2] = {staggered, staggered};
    phl_cartesian rows = make_grid(0, 1, stagger), columns = make_grid(1, 2, stagger);
    static double u[2][400], v[2][400], expected[400];
    phl_field from[2] = {{.element = {.scalar = PHL_FLOAT64}, .cells = u[0]},
        {.element = {.scalar = PHL_FLOAT64}, .cells = u[1]}};
    phl_field to[2] = {{.element = {.scalar = PHL_FLOAT64}, .cells = v[0]},
        {.element = {.scalar = PHL_FLOAT64}, .cells = v[1]}};
    phl_redistribution move = NULL;
    GOOD(phl_redistribution_create_cartesian(rows, columns, NULL, NULL, &move));
    const int64_t before = fill(rows, u[0], 0), after = fill(columns, expected, 0);
    memcpy(u[1], u[0], sizeof u[0]);
    for (int i = 0; i < 2; ++i) fill(columns, v[i], -1);
    GOOD(phl_redistribution_forward(move, from, to, 2));
    for (int i = 0; i < 2; ++i) CHECK(memcmp(v[i], expected, sizeof(double) * (size_t)after) == 0);
    fill(rows, u[0], -1);
    GOOD(phl_redistribution_back(move, from, to, 1));
    CHECK(memcmp(u[0], u[1], sizeof(double) * (size_t)before) == 0);
    to[0].element.scalar = PHL_FLOAT32;
    FAILS(phl_redistribution_forward(move, from, to, 1), PHL_ERROR_TYPE, "equal elements");
    GOOD(phl_cartesian_free(&rows));
    GOOD(phl_cartesian_free(&columns));
    phl_redistribution copy = move;
    GOOD(phl_redistribution_free(&move));
    FAILS(phl_redistribution_forward(copy, from, to, 1), PHL_ERROR_HANDLE, "freed already");
  }
  FAILS(
      phl_redistribution_create_cartesian(NULL, NULL, NULL, NULL, NULL), PHL_ERROR_HANDLE, "null");
}

/* Axes change places, from an array with a padded last axis. */
static void transpose(void) {
  const int64_t extents[2] = {nx, ny}, swapped[2] = {ny, nx};
  const int32_t axes[2] = {1, 0}, wrong[2] = {1, 1};
  const phl_cartesian_options options = {.process_grid = {ranks, 1}};
  phl_cartesian rows = NULL, columns = NULL;
  phl_redistribution move = NULL;
  static double u[nx][ny + 2], v[ny * nx];
  int64_t lower[2], upper[2];
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &rows));
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, swapped, &options, &columns));
  GOOD(phl_redistribution_create_cartesian(rows, columns, axes, NULL, &move));
  GOOD(phl_cartesian_owned(rows, 0, lower, upper));
  for (int64_t x = lower[0]; x < upper[0]; ++x)
    for (int64_t y = 0; y < ny; ++y) u[x - lower[0]][y] = value(x, y);
  const phl_field from = {.element = {.scalar = PHL_FLOAT64},
                      .own_halo = 1,
                      .halo_upper = {0, 2},
                      .cells = u},
                  to = {.element = {.scalar = PHL_FLOAT64}, .cells = v};
  GOOD(phl_redistribution_prepare(move, &from, &to, 1));
  GOOD(phl_redistribution_forward(move, &from, &to, 1));
  GOOD(phl_cartesian_owned(columns, 0, lower, upper));
  for (int64_t y = lower[0]; y < upper[0]; ++y)
    for (int64_t x = 0; x < nx; ++x) CHECK(v[(y - lower[0]) * nx + x] == value(x, y));
  GOOD(phl_redistribution_free(&move));
  FAILS(phl_redistribution_create_cartesian(rows, columns, wrong, NULL, &move), PHL_ERROR_VALUE,
      "not a permutation");
  FAILS(phl_redistribution_create_cartesian(rows, columns, NULL, NULL, &move), PHL_ERROR_VALUE,
      "different extents");
  GOOD(phl_cartesian_free(&rows));
  GOOD(phl_cartesian_free(&columns));
}

/* To the last rank and back: points of two blocks on each rank, with two components, in both
 * orders. */
static void gather_and_scatter(void) {
  const int64_t extents[2] = {nx, ny};
  const int last = ranks - 1;
  for (int32_t order = PHL_ORDER_C; order <= PHL_ORDER_FORTRAN; ++order) {
    const phl_cartesian_options options = {
        .halo_lower = {1, 2}, .process_grid = {ranks, 1}, .blocks_per_rank = {1, 2}};
    phl_cartesian cells = NULL, points = NULL;
    static double u[2][400], before[2][400], whole[2 * (nx + 1) * ny];
    void* blocks[2] = {u[0], u[1]};
    const phl_field field = {.element = {.scalar = PHL_FLOAT64, .components = 2},
        .order = order,
        .stagger = {1, 0},
        .blocks = blocks,
        .block_count = 2};
    GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &cells));
    GOOD(phl_cartesian_staggered(cells, field.stagger, &points));
    for (int b = 0; b < 2; ++b) {
      int64_t lower[2], upper[2], low[2], high[2];
      GOOD(phl_cartesian_owned(points, b, lower, upper));
      GOOD(phl_cartesian_extended(points, b, low, high));
      const int64_t rows = high[0] - low[0], columns = high[1] - low[1];
      for (int i = 0; i < 400; ++i) u[b][i] = -1;
      for (int64_t x = lower[0]; x < upper[0]; ++x)
        for (int64_t y = lower[1]; y < upper[1]; ++y)
          for (int64_t c = 0; c < 2; ++c) {
            const int64_t i = x - low[0], j = y - low[1];
            u[b][order == PHL_ORDER_C ? (i * columns + j) * 2 + c : i + rows * (j + columns * c)] =
                value(x, y) + 0.5 * (double)c;
          }
    }
    memcpy(before, u, sizeof u);
    GOOD(phl_cartesian_gather(cells, &field, rank == last ? whole : NULL, last));
    for (int64_t x = 0; x <= nx && rank == last; ++x)
      for (int64_t y = 0; y < ny; ++y)
        for (int64_t c = 0; c < 2; ++c)
          CHECK(whole[order == PHL_ORDER_C ? (x * ny + y) * 2 + c : x + (nx + 1) * (y + ny * c)] ==
                value(x, y) + 0.5 * (double)c);
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 400; ++i) u[b][i] = u[b][i] == -1 ? -1 : 0;
    GOOD(phl_cartesian_scatter(cells, rank == last ? whole : NULL, &field, last));
    CHECK(memcmp(u, before, sizeof u) == 0);
    FAILS(phl_cartesian_gather(cells, &field, whole, ranks), PHL_ERROR_VALUE, "does not exist");
    FAILS(phl_cartesian_gather(cells, &field, NULL, 0), PHL_ERROR_VALUE, "null pointer");
    FAILS(phl_cartesian_scatter(cells, u[0], &field, 0), PHL_ERROR_VALUE, "shares memory");
    FAILS(phl_cartesian_gather(cells, rank == last ? NULL : &field, whole, 0), PHL_ERROR_VALUE,
        "the field");
    GOOD(phl_cartesian_free(&points));
    GOOD(phl_cartesian_free(&cells));
    FAILS(phl_cartesian_gather(cells, &field, whole, 0), PHL_ERROR_HANDLE, "null");
  }
}

/* From blocks in the order of ranks to every ranks-th cell. */
static void move_cells(void) {
  phl_index_map blocks = NULL, dealt = NULL;
  int64_t ids[3];
  double x[3], y[3];
  for (int i = 0; i < 3; ++i) ids[i] = i * ranks + rank, x[i] = 3 * rank + i;
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 3, 0, NULL, NULL, &blocks));
  GOOD(phl_index_map_create_with_ids(MPI_COMM_WORLD, 3, ids, 0, NULL, 0, NULL, &dealt));
  phl_redistribution move = NULL;
  GOOD(phl_redistribution_create_index_map(blocks, dealt, NULL, &move));
  const phl_field from = {.element = {.scalar = PHL_FLOAT64}, .cells = x},
                  to = {.element = {.scalar = PHL_FLOAT64}, .cells = y};
  GOOD(phl_redistribution_forward(move, &from, &to, 1));
  for (int i = 0; i < 3; ++i) {
    CHECK(y[i] == (double)ids[i]);
    x[i] = -1;
  }
  GOOD(phl_redistribution_back(move, &from, &to, 1));
  for (int i = 0; i < 3; ++i) CHECK(x[i] == 3 * rank + i);
  GOOD(phl_redistribution_free(&move));
  GOOD(phl_index_map_free(&blocks));
  GOOD(phl_index_map_free(&dealt));
}

typedef struct hit {
  double distance;
  int32_t who;
  int32_t calls;
} hit;

static void nearer(void* into, const void* from, int64_t count, void* context) {
  hit* a = into;
  const hit* b = from;
  *(int64_t*)context += count;
  for (int64_t i = 0; i < count; ++i)
    if (b[i].distance < a[i].distance) a[i] = b[i];
}

static void own_reductions(void) {
  int64_t combined = 0;
  int closest = 0;
  const phl_element element = {PHL_BYTES, 1, sizeof(hit)};
  GOOD(phl_reduction_create(element, nearer, &combined, &closest));
  phl_index_map map = NULL;
  const int64_t ids[2] = {1, 0};
  GOOD(phl_index_map_create(MPI_COMM_WORLD, rank == 0 ? 2 : 0, rank == 0 ? 0 : 2, ids, NULL, &map));
  hit hits[2] = {{50.0 - rank, rank, 0}, {70.0 + rank, rank, 0}};
  const int best = ranks - 1,
            least = rank > 0 ? 1 : 0; /* by point: 0 is nearest to the last rank, 1 to the first */
  if (rank > 0) hits[0] = (hit){70.0 + rank, rank, 0}, hits[1] = (hit){50.0 - rank, rank, 0};
  const phl_values values = {.element = element, .owned = {hits, 2, 0}};
  hit kept[2] = {hits[0], hits[1]};
  GOOD(phl_map_reverse(map, closest, &values, 1));
  if (rank == 0) CHECK(hits[0].who == best && hits[1].who == 0);
  memcpy(hits, kept, sizeof hits);
  GOOD(phl_map_reduce_shared(map, closest, &values, 1));
  CHECK(hits[least].who == best && hits[1 - least].who == 0);
  CHECK(ranks == 1 || combined > 0);
  const phl_values other = {.element = {PHL_FLOAT64, 1, 0}, .owned = {kept, 2, 0}};
  FAILS(phl_map_reverse(map, closest, &other, 1), PHL_ERROR_TYPE, "define one for these elements");
  const int number = closest;
  GOOD(phl_reduction_free(&closest));
  FAILS(phl_map_reverse(map, number, &values, 1), PHL_ERROR_VALUE, "until it is freed");
  FAILS(phl_reduction_create(element, NULL, NULL, &closest), PHL_ERROR_VALUE,
      "combine is a null pointer");
  GOOD(phl_index_map_free(&map));
}

static int is_point(int i, int j) { return i >= 1 && i <= 4 && j >= 1 && j <= 3; }
static double value_of(int i, int j, int owner) { return 10 * i + j + 0.1 * (owner + 1); }

/* Of the first and the last column the rank beside this one has a value, too, which comes first
 * where its rank is lower. */
static double sum_at(int i, int j, int periodic) {
  const double own = value_of(i, j, rank);
  if (j == 2 || !(periodic || (j == 1 ? rank > 0 : rank < ranks - 1))) return own;
  const int other = j == 1 ? (rank + ranks - 1) % ranks : (rank + 1) % ranks;
  const double theirs = value_of(i, 4 - j, other);
  return other < rank || (ranks == 1 && j == 3) ? theirs + own : own + theirs;
}

/* Nodes between columns of cells: those between two ranks are on both, and the ends are one where
 * the grid is periodic. */
static void sum_points(int periodic) {
  const int64_t extents[2] = {3, 2 * ranks};
  phl_cartesian_options options = {.halo_lower = {1, 1},
      .halo_upper = {1, 1},
      .process_grid = {1, ranks},
      .periodic = {0, periodic}};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  double u[6][5], v[6][5];
  phl_field field = {.element = {.scalar = PHL_FLOAT64}, .stagger = {1, 1}, .cells = u};
  phl_point_sums sums = NULL;
  GOOD(phl_point_sums_create(domain, 1, &field, NULL, &sums));
  for (int round = 0; round < 2; ++round) {
    double (*const w)[5] = round == 0 ? u : v;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 5; ++j) w[i][j] = is_point(i, j) ? value_of(i, j, rank) : -1;
    field.cells = v;
    if (round == 0) GOOD(phl_point_sums_reduce(sums, PHL_SUM, NULL, 0));
    else GOOD(phl_point_sums_begin(sums, PHL_SUM, &field, 1));
    if (round == 1) GOOD(phl_point_sums_end(sums));
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 5; ++j) CHECK(w[i][j] == (is_point(i, j) ? sum_at(i, j, periodic) : -1));
  }
  field.stagger[0] = 0;
  phl_point_sums none = NULL;
  FAILS(phl_point_sums_reduce(sums, PHL_SUM, &field, 1), PHL_ERROR_VALUE,
      "differs in stagger or layout");
  field.stagger[1] = 0;
  FAILS(phl_point_sums_create(domain, 1, &field, NULL, &none), PHL_ERROR_VALUE, "lives on cells");
  GOOD(phl_point_sums_free(&sums));
  GOOD(phl_cartesian_free(&domain));
}

/* Rank 0 pushes its last cell to everybody. */
static void owners_decide(void) {
  phl_index_map owners = NULL, map = NULL;
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 2, 0, NULL, NULL, &owners));
  int32_t *everybody = malloc(sizeof(int32_t) * (size_t)ranks),
          *cells = malloc(sizeof(int32_t) * (size_t)ranks);
  for (int r = 0; r < ranks; ++r) everybody[r] = r, cells[r] = 1;
  GOOD(phl_index_map_create_push(owners, rank == 0 ? ranks : 0, cells, everybody, &map));
  int32_t owned, ghosts;
  int64_t id = -1;
  GOOD(phl_index_map_sizes(map, &owned, &ghosts, NULL, NULL));
  CHECK(owned == 2 && ghosts == 1);
  GOOD(phl_index_map_ghosts(map, &id, NULL));
  CHECK(id == 1);
  cells[0] = 2;
  FAILS(phl_index_map_create_push(owners, rank == 0, cells, everybody, &map), PHL_ERROR_VALUE,
      "is not owned by rank 0");
  free(everybody);
  free(cells);
  GOOD(phl_index_map_free(&owners));
  GOOD(phl_index_map_free(&map));
}

/* Row i of rank r goes to rank i - 1: the first is dropped, the last one goes to the last rank. */
static void rows_move(void) {
  enum { most = 64 };
  int32_t to[most], sources[most];
  struct {
    double x[2];
    int64_t id;
  } rows[most];
  int64_t ids[most], received = -1;
  const int count = ranks + 1;
  phl_migration migration = NULL;
  GOOD(phl_migration_create(MPI_COMM_WORLD, &migration));
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < count; ++i) {
      to[i] = i - 1, ids[i] = 100 * rank + i + step, rows[i].id = -1;
      rows[i].x[0] = (double)ids[i], rows[i].x[1] = -1;
    }
    const phl_values arrays[2] = {
        {.element = {PHL_INT64, 1, 0}, .owned = {.first = ids, .count = most}},
        {.element = {PHL_FLOAT64, 2, 0}, .owned = {rows, most, sizeof rows[0]}}};
    GOOD(phl_migration_send(migration, count, to, arrays, 2, &received));
    CHECK(received == ranks);
    GOOD(phl_migration_receive(migration, arrays, 2, sources));
    for (int r = 0; r < ranks; ++r)
      CHECK(ids[r] == 100 * r + rank + 1 + step && rows[r].x[0] == (double)ids[r] &&
            rows[r].x[1] == -1 && rows[r].id == -1 && sources[r] == r);
  }
  phl_values few = {.element = {PHL_INT64, 1, 0}, .owned = {ids, 0, 0}};
  FAILS(phl_migration_receive(migration, &few, 1, NULL), PHL_ERROR_TYPE, "int64 × 1, float64 × 2");
  FAILS(phl_migration_send(migration, count, to, &few, 1, NULL), PHL_ERROR_VALUE, "0 rows");
  few.owned.count = most;
  to[1] = rank == 0 ? ranks : 0;
  FAILS(phl_migration_send(migration, count, to, &few, 1, NULL), PHL_ERROR_VALUE,
      "row 1 goes to rank");
  FAILS(phl_migration_send(migration, rank == 0, NULL, &few, 1, NULL), PHL_ERROR_VALUE, "ranks");
  to[1] = 0;
  GOOD(phl_migration_send(migration, count, to, &few, 1, &received));
  CHECK(received == ranks);
  GOOD(phl_migration_free(&migration));
  CHECK(migration == NULL);
  FAILS(phl_migration_send(migration, 0, NULL, &few, 1, NULL), PHL_ERROR_HANDLE, "migration");
}

/* Two cells each, and the next rank's first one as a ghost. */
static void read_folder(void) {
  char folder[64] = "/tmp/phl-parts", file[96];
  snprintf(folder + strlen(folder), 32, "%d", (int)getpid());
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  mkdir(folder, 0700);
  snprintf(file, sizeof file, "%s/data%03d", folder, rank + 1);
  const int32_t part[3] = {2, ranks > 1, 2 * ((rank + 1) % ranks) + 1};
  FILE* stream = fopen(file, "wb");
  CHECK(stream != NULL && fwrite(part, 4, 3, stream) == 3);
  fclose(stream);
  phl_index_map map = NULL;
  GOOD(phl_index_map_read(MPI_COMM_WORLD, folder, NULL, &map));
  int64_t id = -1;
  GOOD(phl_index_map_ghosts(map, &id, NULL));
  CHECK(id == (ranks > 1 ? part[2] - 1 : -1));
  GOOD(phl_index_map_free(&map));
  MPI_Barrier(MPI_COMM_WORLD);
  remove(file);
  MPI_Barrier(MPI_COMM_WORLD);
  FAILS(phl_index_map_read(MPI_COMM_WORLD, folder, NULL, &map), PHL_ERROR_VALUE, "missing");
  rmdir(folder);
}

void write_partition(const char* folder, int ranks);
void remove_partition(const char* folder, int ranks);

static void read_keys(void) {
  char folder[64];
  snprintf(folder, sizeof folder, "/tmp/phl-keys%d-%d", (int)getpid(), ranks);
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) write_partition(folder, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  phl_index_map map = NULL, other = NULL;
  GOOD(phl_index_map_read(MPI_COMM_WORLD, folder, NULL, &map));
  GOOD(phl_index_map_create(MPI_COMM_WORLD, 3, 0, NULL, NULL, &other));
  int32_t per_id = 0;
  int64_t keys[4];
  GOOD(phl_index_map_read_keys(map, folder, &per_id, 0, NULL));
  CHECK(per_id == 2);
  GOOD(phl_index_map_read_keys(map, folder, NULL, 4, keys));
  for (int k = 0; k < 2; ++k)
    CHECK(keys[2 * k] == 10 * (2 * rank + k) &&
          keys[2 * k + 1] == (rank + k == 0 ? -1 : keys[2 * k] + 1));
  FAILS(phl_index_map_read_keys(map, folder, NULL, rank == 0 ? 3 : 4, keys), PHL_ERROR_VALUE,
      "room for 3 numbers and there are 4");
  FAILS(phl_index_map_read_keys(other, folder, NULL, 4, keys), PHL_ERROR_VALUE,
      "keys for 2 ids, but the map owns 3");
  FAILS(phl_index_map_read_keys(map, "/tmp", NULL, 4, keys), PHL_ERROR_VALUE, "missing");
  GOOD(phl_index_map_free(&map));
  GOOD(phl_index_map_free(&other));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove_partition(folder, ranks);
}

/* Four blocks on each rank: every node is in four cells, of which each has given one. */
static void sum_points_of_blocks(void) {
  const int64_t extents[2] = {4, 4 * ranks};
  phl_cartesian_options options = {
      .periodic = {1, 1}, .process_grid = {1, ranks}, .blocks_per_rank = {2, 2}};
  phl_cartesian domain = NULL;
  GOOD(phl_cartesian_create(MPI_COMM_WORLD, 2, extents, &options, &domain));
  double nodes[4][9];
  void* blocks[4] = {nodes[0], nodes[1], nodes[2], nodes[3]};
  for (int b = 0; b < 4; ++b)
    for (int n = 0; n < 9; ++n) nodes[b][n] = (n / 3 == 1 ? 2 : 1) * (n % 3 == 1 ? 2 : 1);
  const phl_field field = {
      .element = {.scalar = PHL_FLOAT64}, .stagger = {1, 1}, .blocks = blocks, .block_count = 4};
  phl_point_sums sums = NULL;
  GOOD(phl_point_sums_create(domain, 1, &field, NULL, &sums));
  GOOD(phl_point_sums_reduce(sums, PHL_SUM, &field, 1));
  for (int b = 0; b < 4; ++b)
    for (int n = 0; n < 9; ++n) CHECK(nodes[b][n] == 4);
  GOOD(phl_point_sums_free(&sums));
  GOOD(phl_cartesian_free(&domain));
}

/* A mistake of one rank in the first call, which is collective. */
static void all_are_told(void) {
  int32_t stagger[2] = {0, 0};
  phl_cartesian rows = make_grid(0, 1, stagger), columns = make_grid(1, 2, stagger);
  static double u[400], v[400];
  const phl_field from = {.element = {.scalar = PHL_FLOAT64}, .cells = u};
  phl_field to = {.element = {.scalar = PHL_FLOAT64}, .cells = v};
  phl_redistribution move = NULL;
  GOOD(phl_redistribution_create_cartesian(rows, columns, NULL, NULL, &move));
  if (rank == ranks - 1) to.order = 7;
  FAILS(phl_redistribution_forward(move, &from, &to, 1), PHL_ERROR_VALUE, "order 7 does not exist");
  to.order = PHL_ORDER_C;
  GOOD(phl_redistribution_forward(move, &from, &to, 1));
  GOOD(phl_redistribution_free(&move));
  GOOD(phl_cartesian_free(&rows));
  GOOD(phl_cartesian_free(&columns));
}

void test_moves(void) {
  move_grids();
  transpose();
  gather_and_scatter();
  move_cells();
  sum_points(0);
  sum_points(1);
  own_reductions();
  owners_decide();
  rows_move();
  read_folder();
  read_keys();
  sum_points_of_blocks();
  all_are_told();
}
