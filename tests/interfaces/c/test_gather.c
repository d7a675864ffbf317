/* Every ghost holds its owner's value: every element type, several components, one array and two, several under way. */
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

static int all_right(const unsigned char* cells, const int64_t* ids, int count, int components, int size) {
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
    GOOD(phl_gather(map, element, (phl_cells){x, owned + ghosts, 0}, (phl_cells){0}));
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
    for (int64_t i = 0; i < owned; ++i) fill(x + i * stride, first_of(rank) + i, 1, element.components, size);
    GOOD(phl_gather(map, element, (phl_cells){x, owned, stride}, (phl_cells){g, ghosts, stride}));
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
    GOOD(phl_gather_begin(map, element, (phl_cells){x, all, 0}, (phl_cells){0}));
    GOOD(phl_gather_begin(map, element, (phl_cells){y, all, 0}, (phl_cells){0}));
    for (int64_t i = 0; i < owned; ++i) x[i] = y[i] = 1e300;
    phl_index_map busy = map;
    FAILS(phl_index_map_free(&busy), PHL_ERROR_VALUE, "under way");
    GOOD(phl_gather_end(map, element, (phl_cells){y, all, 0}, (phl_cells){0}));
    GOOD(phl_gather_end(map, element, (phl_cells){x, all, 0}, (phl_cells){0}));
    for (int i = 0; i < ghosts; ++i) CHECK(x[owned + i] == (double)ids[i] && y[owned + i] == -(double)ids[i]);
    free(x);
    free(y);
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
    GOOD(phl_index_map_free(&map));
    CHECK(map == NULL);
}
