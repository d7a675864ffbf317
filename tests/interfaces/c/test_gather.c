/* Every ghost holds its owner's value: all element types, several components, one or two arrays,
 * several pending exchanges. */
#include "support.h"

static const int sizes[] = {5, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
enum { canary = 0x5a, poison = 0xa5 };

/* Byte k of component c of the cell with this id. */
static unsigned char byte_of(int64_t id, int c, int k) {
  return (unsigned char)(1 + (id * 131 + c * 17 + k * 7 + id / 3) % 120);
}

static void fill(unsigned char* cells, int64_t first, int64_t count, int components, int size) {
  for (int64_t i = 0; i < count; ++i)
    for (int c = 0; c < components; ++c)
      for (int k = 0; k < size; ++k) *cells++ = byte_of(first + i, c, k);
}

static int all_right(
    const unsigned char* cells, const int64_t* ids, int count, int components, int size) {
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < components; ++c)
      for (int k = 0; k < size; ++k)
        if (*cells++ != byte_of(ids[i], c, k)) return 0;
  return 1;
}

static void gather_in_place(phl_index_map map, phl_element element, int size) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids), width = element.components * size;
  const int64_t owned = owned_by(rank), bytes = (owned + ghosts) * width;
  unsigned char* x = malloc((size_t)bytes + 8);
  memset(x, poison, (size_t)bytes);
  memset(x + bytes, canary, 8);
  fill(x, first_of(rank), owned, element.components, size);
  GOOD(phl_map_forward(map, &(phl_values){.element = element, .owned = {x, owned + ghosts, 0}}, 1));
  CHECK(all_right(x + owned * width, ids, ghosts, element.components, size));
  for (int k = 0; k < 8; ++k) CHECK(x[bytes + k] == canary);
  free(x);
}

/* Cells further apart than they are wide, ghosts elsewhere; what lies between cells stays. */
static void gather_apart(phl_index_map map, phl_element element, int size) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids), width = element.components * size, stride = width + 3;
  const int64_t owned = owned_by(rank);
  unsigned char* x = malloc((size_t)(owned * stride) + 1);
  unsigned char* g = malloc((size_t)(ghosts * stride) + 1);
  memset(g, poison, (size_t)(ghosts * stride));
  for (int64_t i = 0; i < owned; ++i)
    fill(x + i * stride, first_of(rank) + i, 1, element.components, size);
  GOOD(phl_map_forward(map, &(phl_values){element, {x, owned, stride}, {g, ghosts, stride}}, 1));
  for (int i = 0; i < ghosts; ++i) {
    CHECK(all_right(g + i * stride, ids + i, 1, element.components, size));
    for (int k = width; k < stride; ++k) CHECK(g[i * stride + k] == poison);
  }
  free(x);
  free(g);
}

/* The owned values may change as soon as begin returns. */
static void several_under_way(phl_index_map map) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids);
  const int64_t owned = owned_by(rank), all = owned + ghosts;
  double* x = malloc(sizeof(double) * (size_t)(all + 1));
  double* y = malloc(sizeof(double) * (size_t)(all + 1));
  const phl_element element = {PHL_FLOAT64, 1, 0};
  for (int64_t i = 0; i < owned; ++i) x[i] = (double)(first_of(rank) + i), y[i] = -x[i];
  GOOD(phl_map_begin_forward(map, &(phl_values){.element = element, .owned = {x, all, 0}}, 1));
  GOOD(phl_map_begin_forward(map, &(phl_values){.element = element, .owned = {y, all, 0}}, 1));
  for (int64_t i = 0; i < owned; ++i) x[i] = y[i] = 1e300;
  phl_index_map busy = map;
  FAILS(phl_index_map_free(&busy), PHL_ERROR_VALUE, "under way");
  GOOD(phl_map_end(map, &(phl_values){.element = element, .owned = {y, all, 0}}, 1));
  GOOD(phl_map_end(map, &(phl_values){.element = element, .owned = {x, all, 0}}, 1));
  for (int i = 0; i < ghosts; ++i)
    CHECK(x[owned + i] == (double)ids[i] && y[owned + i] == -(double)ids[i]);
  free(x);
  free(y);
}

/* Three arrays of different elements in one call, in other memory each time: two arrays, one with
 * gaps, one that ranks of the node reach. */
static void several_at_once(phl_index_map map) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids);
  const int64_t owned = owned_by(rank), all = owned + ghosts;
  for (int round = 0; round < 6; ++round) {
    const int64_t gap = round % 2 == 0 ? 3 : 3 + rank;
    double* x = malloc(sizeof(double) * (size_t)(all + 1));
    int8_t *y = malloc((size_t)(owned * gap + 1)), *g = malloc((size_t)(ghosts * gap + 1));
    void* z = NULL;
    GOOD(phl_allocate(8 * (all + 1), &z));
    for (int64_t i = 0; i < owned; ++i) {
      const int64_t id = first_of(rank) + i;
      x[i] = (double)id + round, ((float*)z)[2 * i] = (float)id,
      ((float*)z)[2 * i + 1] = (float)round;
      for (int c = 0; c < 3; ++c) y[i * gap + c] = (int8_t)byte_of(id, c, round);
    }
    const phl_values arrays[3] = {{.element = {PHL_FLOAT64, 1, 0}, .owned = {x, all, 0}},
        {.element = {PHL_INT8, 3, 0}, .owned = {y, owned, gap}, .ghosts = {g, ghosts, gap}},
        {.element = {PHL_FLOAT32, 2, 0}, .owned = {z, all, 0}}};
    if (round < 3) GOOD(phl_map_forward(map, arrays, 3));
    else {
      GOOD(phl_map_begin_forward(map, arrays, 3));
      for (int64_t i = 0; i < owned; ++i) x[i] = 1e300, y[i * gap] = 0;
      FAILS(phl_map_end(map, arrays, 2), PHL_ERROR_VALUE, "under way");
      GOOD(phl_map_end(map, arrays, 3));
    }
    for (int i = 0; i < ghosts; ++i) {
      CHECK(x[owned + i] == (double)ids[i] + round);
      for (int c = 0; c < 3; ++c) CHECK(g[i * gap + c] == (int8_t)byte_of(ids[i], c, round));
      CHECK(((float*)z)[2 * (owned + i)] == (float)ids[i] &&
            ((float*)z)[2 * (owned + i) + 1] == (float)round);
    }
    free(x), free(y), free(g);
    GOOD(phl_release(z));
  }
  FAILS(phl_map_forward(map, NULL, 2), PHL_ERROR_VALUE, "arrays");
  FAILS(phl_map_forward(map, NULL, 0), PHL_ERROR_VALUE, "no arrays");
}

/* Whole numbers of two elements: every owner gets one for each of its ghosts, whoever has it. */
static void several_back(phl_index_map map) {
  int64_t ids[most_ghosts];
  const int ghosts = ghosts_of(rank, ids);
  const int64_t owned = owned_by(rank), all = owned + ghosts;
  double* x = calloc((size_t)all + 1, sizeof(double));
  int32_t* y = calloc(2 * (size_t)all + 1, sizeof(int32_t));
  const phl_values arrays[2] = {{.element = {PHL_FLOAT64, 1, 0}, .owned = {x, all, 0}},
      {.element = {PHL_INT32, 2, 0}, .owned = {y, all, 0}}};
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < ghosts; ++i)
      x[owned + i] = 1, y[2 * (owned + i)] = 2, y[2 * (owned + i) + 1] = -3;
    if (round == 1) GOOD(phl_map_reverse(map, PHL_SUM, arrays, 2));
    else {
      GOOD(phl_map_begin_reverse(map, PHL_SUM, arrays, 2));
      for (int i = 0; i < ghosts; ++i) x[owned + i] = 1e300, y[2 * (owned + i)] = 7;
      GOOD(phl_map_end(map, arrays, 2));
    }
    for (int64_t i = 0; i < owned; ++i) {
      int count = 0;
      for (int r = 0; r < ranks; ++r)
        for (int k = 0, n = ghosts_of(r, ids); k < n; ++k) count += ids[k] == first_of(rank) + i;
      CHECK(x[i] == round * count && y[2 * i] == 2 * round * count &&
            y[2 * i + 1] == -3 * round * count);
    }
  }
  free(x), free(y);
}

void test_gather(void) {
  phl_index_map map = make_map();
  for (int scalar = PHL_BYTES; scalar <= PHL_COMPLEX128; ++scalar)
    for (int components = 1; components <= 3; components += 2) {
      const phl_element element = {scalar, components, scalar == PHL_BYTES ? sizes[0] : 0};
      gather_in_place(map, element, sizes[scalar]);
      gather_apart(map, element, sizes[scalar]);
    }
  several_under_way(map);
  several_at_once(map);
  several_back(map);
  GOOD(phl_index_map_free(&map));
  CHECK(map == NULL);
}
