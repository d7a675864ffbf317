/* check_sets_c FOLDER...: compares every ghost and every reverse sum of partition sets with a
 * formula, through C. */
#include <parhelion/phl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

#define GOOD(call) \
  do { \
    if ((call) != PHL_SUCCESS) { \
      fprintf(stderr, "[rank %d] %s: %s\n", rank, #call, phl_last_error()); \
      MPI_Abort(MPI_COMM_WORLD, 3); \
    } \
  } while (0)

typedef struct part {
  int32_t owned, ghosts;
  int64_t* ids;
} part;

/* This rank's file: owned cells, ghosts, ids from 1, in 32 bits. */
static part read_part(const char* folder) {
  char name[4096];
  part p = {0, 0, NULL};
  snprintf(name, sizeof name, "%s/data%03d", folder, rank + 1);
  FILE* file = fopen(name, "rb");
  int good = file && fread(&p.owned, 4, 1, file) == 1 && fread(&p.ghosts, 4, 1, file) == 1;
  p.ids = malloc(((size_t)p.ghosts + 1) * sizeof *p.ids);
  for (int i = 0; good && i < p.ghosts; ++i) {
    int32_t id;
    good = fread(&id, 4, 1, file) == 1;
    p.ids[i] = id - 1;
  }
  if (!good) {
    fprintf(stderr, "cannot read %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  fclose(file);
  return p;
}

static double value_of(int64_t id, int c) { return 3.0 * (double)id + 0.25 * c + 1; }

static int64_t check_gather(phl_index_map map, part p, int64_t first, double* x, double* g) {
  const phl_element two = {PHL_FLOAT64, 2, 0};
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.owned; ++i)
    for (int c = 0; c < 2; ++c) x[2 * i + c] = value_of(first + i, c);
  GOOD(phl_map_forward(map, &(phl_values){two, {x, p.owned, 0}, {g, p.ghosts, 0}}, 1));
  for (int64_t i = 0; i < p.ghosts; ++i)
    for (int c = 0; c < 2; ++c) wrong += g[2 * i + c] != value_of(p.ids[i], c);
  return wrong;
}

/* Ghosts give back 1 and their id: an owner has its id as often as there are ghosts of it. */
static int64_t check_scatter(phl_index_map map, part p, int64_t first, double* x, double* g) {
  const phl_element two = {PHL_FLOAT64, 2, 0};
  double counts[2] = {p.ghosts, 0};
  int64_t wrong = 0;
  for (int64_t i = 0; i < 2 * p.owned; ++i) x[i] = 0;
  for (int64_t i = 0; i < p.ghosts; ++i) {
    g[2 * i] = 1;
    g[2 * i + 1] = (double)p.ids[i];
  }
  GOOD(phl_map_reverse(map, PHL_SUM, &(phl_values){two, {x, p.owned, 0}, {g, p.ghosts, 0}}, 1));
  for (int64_t i = 0; i < p.owned; ++i) {
    counts[1] += x[2 * i];
    wrong += x[2 * i + 1] != x[2 * i] * (double)(first + i);
  }
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return wrong + (counts[0] != counts[1]);
}

static int64_t check_set(const char* folder) {
  part p = read_part(folder);
  phl_index_map map = NULL;
  int64_t first = 0;
  part read = {0, 0, malloc(((size_t)p.ghosts + 1) * sizeof *p.ids)};
  GOOD(phl_index_map_read(MPI_COMM_WORLD, folder, NULL, &map));
  GOOD(phl_index_map_sizes(map, &read.owned, &read.ghosts, NULL, &first));
  GOOD(phl_index_map_ghosts(map, read.ids, NULL));
  const int64_t misread = read.owned != p.owned || read.ghosts != p.ghosts ||
                          memcmp(read.ids, p.ids, (size_t)p.ghosts * sizeof *p.ids) != 0;
  free(read.ids);
  double* x = malloc(((size_t)p.owned + 1) * 2 * sizeof *x);
  double* g = malloc(((size_t)p.ghosts + 1) * 2 * sizeof *g);
  const int64_t wrong =
      misread + check_gather(map, p, first, x, g) + check_scatter(map, p, first, x, g);
  GOOD(phl_index_map_free(&map));
  free(x);
  free(g);
  free(p.ids);
  return wrong;
}

int main(int argc, char** argv) {
  int64_t all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    int64_t wrong = check_set(argv[i]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("C %s: %s\n", argv[i], wrong ? "WRONG" : "right");
    all += wrong;
  }
  MPI_Finalize();
  return all != 0;
}
