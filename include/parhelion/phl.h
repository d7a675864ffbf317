/* Parhelion for C. Link with libparhelion; placement has its own header,
 * parhelion/placement/c_interface.h.
 *
 * Functions return a status: PHL_SUCCESS, or what kind of mistake it was, with the message in
 * phl_last_error. Handles are made by the ..._create functions and become NULL in the ..._free
 * functions; one that is NULL, was freed already, or is of another kind gives PHL_ERROR_HANDLE.
 * "Collective" means that every rank of the communicator calls; mistakes there are reported on
 * every rank. Other functions report on the rank that made the mistake; its neighbors then wait
 * for it, or end with PHL_ERROR_TIMEOUT where PARHELION_TIMEOUT is set. Ids, cells, components,
 * blocks and ranks start at 0. Output pointers may be NULL where one is not interested. Arrays
 * belong to the caller. Handles may be used by several threads where no two use the same one at
 * once. */
#ifndef PARHELION_PHL_H
#define PARHELION_PHL_H

#include <mpi.h>
#include <stdint.h>

#include "parhelion/core/kinds.h"
#include "parhelion/core/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every function returns. */
enum phl_status {
    PHL_SUCCESS = 0,
    PHL_ERROR_VALUE = 1,
    PHL_ERROR_TYPE = 2,
    PHL_ERROR_COMMUNICATION = 3,
    PHL_ERROR_TIMEOUT = 4,
    PHL_ERROR_LOST_PEER = 5,
    PHL_ERROR_SYSTEM = 6,
    PHL_ERROR_HANDLE = 7,
    PHL_ERROR_INTERNAL = 8
};

/* What one component of a cell is: PHL_INT8 … PHL_INT64, PHL_UINT8 … PHL_UINT64, PHL_FLOAT32,
 * PHL_FLOAT64, PHL_COMPLEX64, PHL_COMPLEX128 (core/kinds.h). PHL_BYTES is opaque: it can be copied
 * and replaced, not added. */
enum phl_scalar { PHL_BYTES = 0, PHL_SCALARS(PHL_NAME) PHL_SCALAR_COUNT };

/* What an owner does with the values that come back in a reverse exchange: PHL_REPLACE (0),
 * PHL_SUM, PHL_MIN, PHL_MAX, PHL_AND, PHL_OR, PHL_PROD (core/kinds.h), or what phl_reduction_create
 * gave. Complex numbers have no minimum or maximum, floating-point numbers no bits. */
enum phl_reduction { PHL_REDUCTIONS(PHL_NAME) };

/* An associative function of the program's own: into[i] = into[i] ⊕ from[i] for `count` elements
 * next to each other, aligned. It need not be commutative: values are combined in ascending order
 * of rank, so that results repeat bit for bit. It must not call this library or MPI. */
typedef void (*phl_combine)(void* into, const void* from, int64_t count, void* context);

/* Owner → ghost, or ghost → owner. */
enum phl_direction { PHL_FORWARD = 0, PHL_REVERSE };

/* PHL_ORDER_C: last dimension contiguous, components of a cell next to each other.
 * PHL_ORDER_FORTRAN: first dimension contiguous, components slowest. */
enum phl_order { PHL_ORDER_C = 0, PHL_ORDER_FORTRAN };

/* Where arrays lie. PHL_DEVICE takes a transport and an interpreter of copies that a program
 * registers (C++). */
enum phl_memory_space { PHL_HOST = 0, PHL_DEVICE };

/* Ghosts from across faces, edges and corners, or faces only; one message to each neighbor, or
 * dimension after dimension. */
enum phl_neighbors { PHL_NEIGHBORS_FULL = 0, PHL_NEIGHBORS_FACES };
enum phl_algorithm { PHL_STANDARD = 0, PHL_STAGED };

/* How ranks fill the process grid where no table says it. PHL_RANKS_OF_COMMUNICATOR: as
 * MPI_Cart_create has numbered them, with the grid and the periodicity that the Cartesian
 * communicator has. */
enum phl_rank_order {
    PHL_RANKS_LAST_FASTEST = 0,
    PHL_RANKS_FIRST_FASTEST,
    PHL_RANKS_OF_COMMUNICATOR
};
/* The layers of an array beyond an end that is not periodic. Open: left alone. Owned: the rank
 * there owns as many as the field's depth, so that its neighbors get them as ghosts. */
enum phl_boundary { PHL_BOUNDARY_OPEN = 0, PHL_BOUNDARY_OWNED };

/* Of a grid at most. */
#define PHL_MAX_DIMENSIONS 4

/* Which side of an axis, and whether the line of a fold lies beyond the last row of cells or
 * through their centers. */
enum phl_side { PHL_UPPER = 0, PHL_LOWER };
enum phl_pivot { PHL_PIVOT_CORNER = 0, PHL_PIVOT_CENTER };
/* Two sides of a grid, or of its tiles, that are joined, or one that is joined to itself, mirrored:
 * a fold. Axes are counted from 0. See Seam (domain/cartesian_domain.hpp).
 *
 *     phl_seam north = {.from_axis = 1, .to_axis = 1, .backward = 1 << 0};
 */
typedef struct phl_seam {
    int32_t from_axis, from_side, from_tile; /* enum phl_side; tiles where the grid has them */
    int32_t to_axis, to_side, to_tile;
    int32_t axes[PHL_MAX_DIMENSIONS]; /* of the other side, for each axis; all 0: the axes of the
                                         two sides change places */
    int32_t backward;                 /* bit d: axis d runs backward on the other side */
    int32_t pivot;                    /* enum phl_pivot */
} phl_seam;

/* Handles. A copy is the same object. */
typedef struct phl_index_map_handle* phl_index_map;
typedef struct phl_cartesian_handle* phl_cartesian;
typedef struct phl_exchange_handle* phl_exchange;
typedef struct phl_redistribution_handle* phl_redistribution;
typedef struct phl_point_sums_handle* phl_point_sums;
typedef struct phl_migration_handle* phl_migration;

/* The message of the last mistake on this thread: what, where and what to do. Valid until the next
 * mistake. Local. */
const char* phl_last_error(void);
/* "0.1.0". Local. */
const char* phl_version(void);

/* Values of cells: `components` elements next to each other in each cell; `bytes` per element with
 * PHL_BYTES, else 0. */
typedef struct phl_element {
    int32_t scalar;
    int32_t components;
    int32_t bytes;
} phl_element;

/* Local. The number of a reduction of the program's own, of arrays of this element (its
 * components are elements of their own): it goes wherever one of enum phl_reduction does.
 * `context` is handed to each call. Each rank makes its own. What is under way with it goes on
 * when it is freed; the number becomes PHL_REPLACE. */
int phl_reduction_create(phl_element element, phl_combine combine, void* context, int* reduction);
int phl_reduction_free(int* reduction);

/* How an exchange moves its data and how long it waits: of everything that makes one, an index map
 * too. core/options.h says what each means. All zero, which PHL_EXCHANGE_OPTIONS_INIT is, and a
 * null pointer to it: as the library chooses. */
typedef struct phl_exchange_options {
    PHL_EXCHANGE_OPTIONS(PHL_C_OPTION)
} phl_exchange_options;
/* All options as the library chooses. */
#define PHL_EXCHANGE_OPTIONS_INIT {0}

/* ---- Index maps: cells known by global ids ----
 *
 * A rank owns cells and reads ghosts, which others own, or itself. Local numbering: owned cells,
 * then ghosts in the given order (duplicates allowed). `options`, which may be NULL, are those
 * of its exchanges; derived maps have those of the map that they come from. */

/* Collective. Rank r owns the `owned` ids that follow those of rank r − 1. */
int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
                         const phl_exchange_options* options, phl_index_map* map);
/* Collective. This rank owns `owned_ids` in that local order. With `self_ghosts` 0 a ghost that is
 * an own cell is an error. */
int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
                                  int64_t ghosts, const int64_t* ghost_ids, int self_ghosts,
                                  const phl_exchange_options* options, phl_index_map* map);
/* Collective. Only `root` passes lists: owned cells and numbers of ghosts of each of `ranks` ranks,
 * and the ids of those `ghosts` ghosts rank after rank. */
int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
                                   const int64_t* ghost_counts, int64_t ghosts,
                                   const int64_t* ghost_ids, const phl_exchange_options* options,
                                   phl_index_map* map);
/* Collective. For codes without global ids: list k has counts[k] cells that this rank and
 * ranks[k] share, by their numbers in this rank's arrays, in an order that is the same on both;
 * lists follow each other in `cells`. A point of several ranks may be in several lists; its
 * lowest rank owns it. With `received_counts` (on all ranks, or none) the lists are of cells to
 * send, and `received` has those that get the others' cells. The map has the listed cells alone,
 * and places. An error on every rank where the lists of two ranks differ in length. */
int phl_index_map_create_from_neighbors(MPI_Comm comm, int64_t neighbors, const int32_t* ranks,
                                        const int64_t* counts, const int32_t* cells,
                                        const int64_t* received_counts, const int32_t* received,
                                        const phl_exchange_options* options, phl_index_map* map);
/* Collective. The same cells as in `of`, in arrays as they are: places[i] is the number of owned
 * cell i in an array, ghost_places[i] that of ghost i, from 0. Such maps have forward, reverse
 * and sums of shared points, of arrays with any strides (phl_values); halves and sums go by way
 * of memory of the map's. */
int phl_index_map_create_placed(phl_index_map of, int64_t owned, const int32_t* places,
                                int64_t ghosts, const int32_t* ghost_places, phl_index_map* map);
/* Collective. Every rank reads its part of a partition: `path` is a folder with data001, data002, …
 */
int phl_index_map_read(MPI_Comm comm, const char* path, const phl_exchange_options* options,
                       phl_index_map* map);
/* Collective. What the owned ids are in the mesh file, of the folder that `map` was read from:
 * `per_id` numbers for each id, one id after the other, from 0 (of cells and nodes one; of edges
 * and faces those of their points, then -1). `keys` has room for `capacity` numbers, or is NULL. */
int phl_index_map_read_keys(phl_index_map map, const char* path, int32_t* per_id, int64_t capacity,
                            int64_t* keys);
/* Collective. The owner decides: owned cell cells[i] of `owners`, whose ghosts do not matter,
 * becomes a ghost on ranks[i]. Ghosts stand in the order of the ranks that sent them, those of one
 * rank in the order in which it named them; phl_index_map_ghosts tells which came. */
int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
                              const int32_t* ranks, phl_index_map* map);
/* Collective. Entries of rows, numbered row after row: owned row i has counts[i] entries. The
 * ghosts are the entries of the ghost rows, in their order. */
int phl_index_map_create_ragged(phl_index_map rows, int64_t owned_rows, const int64_t* counts,
                                phl_index_map* map);
/* Collective. Adds those of `ids` as ghosts that the rank neither owns nor has, in ascending order
 * behind the others. */
int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids);
/* Collective. From global ids of nodes, as this rank's cells list them, to local numbers: adds the
 * nodes that it neither owns nor has as ghosts to the map, and writes the local number of each id;
 * −1 (none) stays. */
int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells);
/* Local. Refused while an exchange of the map is under way. */
int phl_index_map_free(phl_index_map* map);

/* Local. Owned cells and ghosts of this rank, cells of all ranks, first owned id (−1 where ids are
 * arbitrary). */
int phl_index_map_sizes(phl_index_map map, int32_t* owned, int32_t* ghosts, int64_t* global,
                        int64_t* first);
/* Local. Ids and owners of the ghosts: arrays of as many entries. */
int phl_index_map_ghosts(phl_index_map map, int64_t* ids, int32_t* owners);
/* Local, of a map with places: the number of each owned cell and of each ghost in arrays, from 0.
 * Arrays of as many numbers; either may be NULL. */
int phl_index_map_places(phl_index_map map, int32_t* owned, int32_t* ghosts);
/* Local. Ranks that this rank exchanges with; `ranks` takes at most `capacity` of the `count` there
 * are. */
int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks);
/* Local. Cells that this rank sends and receives in an exchange from owners to ghosts; times bytes
 * per cell: bytes. */
int phl_index_map_traffic(phl_index_map map, int64_t* cells_sent, int64_t* cells_received);
/* Local. */
int phl_index_map_to_global(phl_index_map map, int64_t count, const int32_t* cells, int64_t* ids);
/* Local. −1 for an id that is neither owned nor a ghost. */
int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells);
/* Collective. Ranks that own the ids. */
int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks);

/* `count` cells, `stride` bytes apart (0: they lie next to each other). */
typedef struct phl_cells {
    void* first;
    int64_t count;
    int64_t stride;
} phl_cells;

/* An array of a call, anywhere in memory: `owned` and `ghosts` are arrays of as many cells as the
 * map has. With ghosts.first NULL, `owned` holds the ghosts too, behind the owned cells. */
typedef struct phl_values {
    phl_element element;
    phl_cells owned, ghosts;
    /* Of a map with places, `owned` is all of the array, at least as far as the last place, and
     * these count; ghosts are in it. */
    int64_t component_stride; /* bytes between the components of a cell; 0: next to each other */
    int64_t extents[PHL_MAX_DIMENSIONS], strides[PHL_MAX_DIMENSIONS]; /* dimensions of the cells,
                                 the one whose cells are numbered fastest first, and how many bytes
                                 they are apart; all 0: one, of the stride of `owned` */
} phl_values;

/* Collective. The ghosts of `of` that count alone: a map whose forward, reverse and halves of them
 * leave all other ghosts as they are. `mask` is an array of `of` with one integer or bool per cell,
 * not 0 for ghosts that count; those of owned cells do not matter. Messages go by MPI. The other
 * calls of a map take `of`. */
int phl_index_map_create_only(phl_index_map of, const phl_values* mask, phl_index_map* subset);
/* Collective: other ghosts count in such a map from now on. One short message to each neighbor;
 * nothing is allocated. Refused while an exchange of it is under way. */
int phl_index_map_update(phl_index_map subset, const phl_values* mask);
/* Owner → ghost, for `count` arrays, of different elements if need be, in one message for each
 * neighbor. The first call for a list of elements and components is collective and sets up an
 * exchange; later ones wait for neighbors only, and each names what arrays it likes. Cells next
 * to each other are exchanged in place, and straight where the arrays are from phl_allocate.
 * After begin the owned values may change; phl_map_end writes the ghosts. Several may be under
 * way at once, begun and ended in the same order everywhere. Arrays that share memory are
 * refused.
 *
 *     phl_map_forward(map, &(phl_values){.element = real, .owned = {x, 1002}}, 1); */
int phl_map_forward(phl_index_map map, const phl_values* arrays, int count);
/* Collective: what the first phl_map_forward, phl_map_reverse or half of them with such arrays
 * would do; likewise for phl_map_reduce_shared. Nothing where that is done. */
int phl_map_prepare(phl_index_map map, const phl_values* arrays, int count);
int phl_map_prepare_shared(phl_index_map map, const phl_values* arrays, int count);
int phl_map_begin_forward(phl_index_map map, const phl_values* arrays, int count);
/* Ghost → owner, combined there in a fixed order; with PHL_SUM the adjoint of forward. After begin
 * the ghosts may change; end writes the owned values. */
int phl_map_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count);
int phl_map_begin_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count);
/* Points that several ranks hold, as owner or as ghosts: each gets all their values combined
 * (PHL_SUM, …), in ascending order of rank and with the same bits everywhere, in one round of
 * messages. Between begin and end shared points must not be written. A rank holds a point once. The
 * first call is collective, as in phl_map_forward. */
int phl_map_reduce_shared(phl_index_map map, int reduction, const phl_values* arrays, int count);
int phl_map_begin_reduce_shared(phl_index_map map, int reduction, const phl_values* arrays,
                                int count);
/* Ends what was begun with the same arrays. */
int phl_map_end(phl_index_map map, const phl_values* arrays, int count);

/* Collective. Values of all cells in the order of their ids, on `root`, to or from the owned cells
 * of every rank. */
int phl_distribute(phl_index_map map, int root, phl_element element, phl_cells all,
                   phl_cells owned);
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all);

/* ---- Rows that go to other ranks
 * ------------------------------------------------------------------------------------ */

/* Collective the first time for a communicator. Sends rows of arrays to the ranks that are named
 * for them, where nobody knows beforehand who sends how much to whom. */
int phl_migration_create(MPI_Comm comm, phl_migration* migration);
/* Collective. Row i of each array, in `owned`, goes to ranks[i], which may be this rank; -1: to
 * nobody. One message goes from each rank to each that gets rows of it. `received`: how many
 * rows have come. A rank may send none, with count, elements and components as on the others.
 * Nothing is allocated where there are no more rows than in a call before. */
int phl_migration_send(phl_migration migration, int64_t rows, const int32_t* ranks,
                       const phl_values* arrays, int count, int64_t* received);
/* Local. Writes the rows that came into arrays with room for them, which may be those that were
 * sent: by the rank that sent them, those of one rank in the order in which it named them.
 * `sources` gets the rank that each came from. */
int phl_migration_receive(phl_migration migration, const phl_values* arrays, int count,
                          int32_t* sources);
/* Local. */
int phl_migration_free(phl_migration* migration);

/* ---- Structured grids
 * ---------------------------------------------------------------------------------------------- */

/* One entry per dimension, as many as the domain has: {2} is C's {2, 0, 0, 0}. All zero: no halo,
 * not periodic, process grid chosen, even splits, one block per rank, full neighbors, standard. */
typedef struct phl_cartesian_options {
    int32_t halo_lower[PHL_MAX_DIMENSIONS], halo_upper[PHL_MAX_DIMENSIONS];
    int32_t periodic[PHL_MAX_DIMENSIONS];
    int32_t process_grid[PHL_MAX_DIMENSIONS];    /* all 0: chosen */
    int32_t blocks_per_rank[PHL_MAX_DIMENSIONS]; /* all 0: one */
    const int64_t* splits[PHL_MAX_DIMENSIONS];   /* cells of each process coordinate; NULL: even;
                                                    needs process_grid */
    int32_t neighbors;
    int32_t algorithm;
    int32_t rank_order;
    int32_t boundary;
    const int32_t* ranks;  /* instead of rank_order: the rank at each place of the process grid, the
                              last dimension fastest; NULL: none */
    const phl_seam* seams; /* at most one for each side; NULL: none */
    int32_t seam_count;
    int32_t has_tiles; /* 1: the cells along tile_axis are tiles, which seams alone join */
    int32_t tile_axis;
    const uint8_t* mask; /* which cells are wet (not 0), the last dimension fastest: places of the
                            process grid without a wet cell get no rank, and the others are as many
                            as there are ranks. Read on rank 0 alone during the call; elsewhere any
                            pointer but NULL. NULL: no land */
    int64_t mask_extents[PHL_MAX_DIMENSIONS]; /* those of the grid (all 0), or 1 in dimensions along
                                                 which all cells are alike */
} phl_cartesian_options;

/* Collective, the same arguments everywhere. `options` may be NULL. */
int phl_cartesian_create(MPI_Comm comm, int dimensions, const int64_t* extents,
                         const phl_cartesian_options* options, phl_cartesian* domain);
/* Local. The domain of the points of fields that are staggered so (1, 0 or -1 for each dimension):
 * of it fields say no stagger. */
int phl_cartesian_staggered(phl_cartesian domain, const int32_t* stagger, phl_cartesian* points);
int phl_cartesian_free(phl_cartesian* domain);
/* Local. The 12 seams of a cube, whose faces are the tiles 0 to 5 with as many cells along the
 * first axis as along the one after it. */
int phl_cube_seams(int first_axis, phl_seam* seams);
/* Local, all of them. Arrays have one entry per dimension. */
int phl_cartesian_process_grid(phl_cartesian domain, int32_t* grid, int32_t* coordinates);
int phl_cartesian_coordinates(phl_cartesian domain, int rank, int32_t* coordinates);
int phl_cartesian_blocks(phl_cartesian domain, int32_t* count);
/* Cells lower ≤ x < upper of one of this rank's blocks, without or with its halo. */
int phl_cartesian_owned(phl_cartesian domain, int block, int64_t* lower, int64_t* upper);
int phl_cartesian_extended(phl_cartesian domain, int block, int64_t* lower, int64_t* upper);
/* Rank that owns a cell, −1 in a block of land, and the number of the block there. */
int phl_cartesian_owner(phl_cartesian domain, const int64_t* cell, int32_t* rank, int32_t* block);

/* ---- Exchanges of arrays ---- */

/* One array, or one per block. Structured: the block with its halo, owned + stagger + lower +
 * upper values in each dimension; fields of one domain may differ in stagger and depth. Index
 * map: owned cells, with the ghosts behind them or (C order) in `ghosts`. */
typedef struct phl_field {
    phl_element element; /* components 0: one */
    int32_t order;
    int32_t own_halo; /* 0: the array has the domain's halo; else halo_lower and halo_upper */
    int32_t halo_lower[PHL_MAX_DIMENSIONS], halo_upper[PHL_MAX_DIMENSIONS];
    int32_t own_depth; /* 0: what the array's halo and the domain's both have is exchanged; else
                          depth_lower and depth_upper */
    int32_t depth_lower[PHL_MAX_DIMENSIONS], depth_upper[PHL_MAX_DIMENSIONS];
    int32_t stagger[PHL_MAX_DIMENSIONS]; /* 1: it lives on points there, and the array has one value
                                            more on every rank; -1: on the upper faces of cells */
    int32_t changes_sign;                /* 1: beyond a fold, as components of vectors do */
    int32_t vector;      /* 1 or more: a component of the vector of that number, which seams turn */
    int32_t along;       /* its axis */
    void* cells;         /* of a rank's only block */
    void* ghosts;        /* index map */
    void* const* blocks; /* instead of `cells`: one array per block */
    int32_t block_count;
    int32_t space; /* enum phl_memory_space, equal on all ranks */
} phl_field;

/* Arrays of one Cartesian domain or of one index map: the other handle is NULL. */
typedef struct phl_group {
    phl_cartesian domain;
    phl_index_map map;
    const phl_field* field;
    int32_t fields;
} phl_group;

/* Collective. The exchange is compiled for the layouts of the fields; their arrays are those that
 * it moves where a call names no others. The domains or maps may be freed before. Arrays that share
 * cells are refused. Groups travel together, one message for each neighbor; their domains and maps
 * have one communicator. `options` may be NULL. */
int phl_exchange_create_cartesian(phl_cartesian domain, int fields, const phl_field* field,
                                  const phl_exchange_options* options, phl_exchange* exchange);
int phl_exchange_create_index_map(phl_index_map map, int fields, const phl_field* field,
                                  const phl_exchange_options* options, phl_exchange* exchange);
int phl_exchange_create_groups(int groups, const phl_group* group,
                               const phl_exchange_options* options, phl_exchange* exchange);
/* Local. Refused while it is under way. */
int phl_exchange_free(phl_exchange* exchange);
/* Owner → ghost: begin and end. Between them owned cells must not be written and ghosts not be
 * touched, and the arrays stay where they are. `fields`: other arrays of the layouts that the
 * exchange was made for, `count` of them, one for each field in that order, group after group;
 * NULL and 0: those that it was made with. Each rank names its own; nothing is sent for it.
 * Another layout is an error of this rank, and then nothing has begun. */
int phl_exchange_forward(phl_exchange exchange, const phl_field* fields, int count);
int phl_exchange_begin(phl_exchange exchange, const phl_field* fields, int count);
/* Ghost → owner, combined there; with PHL_SUM the adjoint of forward: begin_reverse and end. */
int phl_exchange_reverse(phl_exchange exchange, int reduction, const phl_field* fields, int count);
int phl_exchange_begin_reverse(phl_exchange exchange, int reduction, const phl_field* fields,
                               int count);
/* Local. The stream of a device (cudaStream_t, CUstream) that the four calls above follow from now
 * on: what is put on it after end sees the ghosts. A step ends on the stream on which it began.
 * NULL, as at first: the device is waited for before and after. */
int phl_exchange_set_stream(phl_exchange exchange, void* stream);
/* Of a depth: as the exchange was made. */
#define PHL_AS_MADE (-1)

/* A subset of what an exchange moves: fields by their numbers, from 0, group after group (NULL and
 * 0: all), and to which depth, in cells from the owned ones on: PHL_AS_MADE, or at most the widest
 * halo of these fields, 0 on a side that is left out. own_depth 0: all as made. Faces alone leave
 * out ghosts beyond two sides or more; fields on points have none. */
typedef struct phl_only {
    const int32_t* fields; /* their numbers; NULL: all */
    int32_t field_count;   /* of `fields` */
    int32_t own_depth;     /* 1: the depths below count */
    int32_t depth_lower[PHL_MAX_DIMENSIONS],
        depth_upper[PHL_MAX_DIMENSIONS]; /* per dimension, on both sides */
    int32_t neighbors;                   /* enum phl_neighbors */
} phl_only;
/* Local. The exchange of a subset: it is called as any other, with arrays for the fields that it
 * names, in that order, may be under way beside the whole, and is freed by phl_exchange_free.
 * Equal subsets are one exchange; each handle stays good when the whole is freed. Its first use
 * is collective, for then its transports are made: those of the whole, without measuring. */
int phl_exchange_only(phl_exchange exchange, const phl_only* only, phl_exchange* subset);
/* Collective: what the first use of a subset would do, with `fields` as in phl_exchange_forward.
 * Nothing where that is done. */
int phl_exchange_prepare(phl_exchange subset, const phl_field* fields, int count);
/* Collective: has "auto" choose the transport anew; ghosts of `fields`, as in
 * phl_exchange_forward, keep their values. Subsets follow, their next use is collective. A
 * transport by name stays. */
int phl_exchange_retune(phl_exchange exchange, const phl_field* fields, int count);
/* Between begin and end: gets the exchange on without waiting. `done` is 1 when end will return at
 * once, which has to be called all the same, and tells of errors; also where nothing is under way.
 */
int phl_exchange_test(phl_exchange exchange, int* done);
int phl_exchange_end(phl_exchange exchange);
int phl_exchange_under_way(phl_exchange exchange, int* under_way);

/* A value of a ghost that differs from its owner's. */
typedef struct phl_stale_ghost {
    int32_t field, owner;          /* from 0, group after group; the owner's rank */
    int32_t component, dimensions; /* of `cell`; 1 of an index map, 0 where nobody knows the id */
    int64_t cell[PHL_MAX_DIMENSIONS]; /* where its owner has it: a coordinate per dimension, or its
                                         global id */
    char here[32], there[32];         /* the values, for people */
} phl_stale_ghost;
/* Collective. Which ghosts of this rank differ from their owners' values, byte by byte, of arrays
 * as in phl_exchange_forward: `counts` gets one number for each field, `first` the first few of
 * each field, at most `capacity`, and `told` how many those are. It reads arrays only; the first
 * call takes as much memory as they have. */
int phl_exchange_stale(phl_exchange exchange, const phl_field* fields, int count, int64_t* counts,
                       int32_t capacity, phl_stale_ghost* first, int32_t* told);
/* Collective. An error on every rank where some rank has such a ghost; the message tells the first
 * one. */
int phl_exchange_check(phl_exchange exchange, const phl_field* fields, int count);
/* Local. Bytes and messages that this rank sends to others in one exchange. */
int phl_exchange_traffic(phl_exchange exchange, int direction, int64_t* bytes, int32_t* messages);
/* Local. What was chosen and why, for people. The text lives as long as the exchange. */
int phl_exchange_transport(phl_exchange exchange, const char** name);
int phl_exchange_explain(phl_exchange exchange, const char** text);

/* ---- Points of a grid that several ranks hold ---- */

/* Collective. Fields of one stagger, with arrays of equal extents and order: the planes of
 * points between two blocks are on both ranks, and each call gives all holders of a point the
 * sum of their values (or another reduction), added in ascending order of rank and with the same
 * bits everywhere, in one round of messages; a point that a rank holds twice is added up there
 * first. Layers around the points are neither read nor written. `options` may be NULL; the
 * domain may be freed before. */
int phl_point_sums_create(phl_cartesian domain, int fields, const phl_field* field,
                          const phl_exchange_options* options, phl_point_sums* sums);
/* `fields`: as in phl_exchange_forward. Points that others hold must not be written between begin
 * and end. */
int phl_point_sums_reduce(phl_point_sums sums, int reduction, const phl_field* fields, int count);
int phl_point_sums_begin(phl_point_sums sums, int reduction, const phl_field* fields, int count);
int phl_point_sums_end(phl_point_sums sums);
/* Local. Refused while they are under way. */
int phl_point_sums_free(phl_point_sums* sums);

/* ---- From one domain to another ---- */

/* Collective. Moves owned values between two domains of the same cells on one communicator: to
 * another process grid or other splits, another partition, more or fewer ranks that own something;
 * of index maps cells are those of equal global id. Ghosts are neither read nor written. Fields on
 * points go between phl_cartesian_staggered of both domains. `options` may be NULL; the domains or
 * maps may be freed before. */
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to,
                                        const phl_exchange_options* options,
                                        phl_redistribution* redistribution);
/* Axis d of `to` is axis axes[d] of `from`: transposes for FFTs, whose pencils keep their own axis
 * fastest. NULL: none changes places. */
int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to, const int32_t* axes,
                                        const phl_exchange_options* options,
                                        phl_redistribution* redistribution);
/* from[i] → to[i], arrays of the first and of the second domain, of equal elements and components;
 * one message from each rank to each that gets cells of it. The first call with cells of as many
 * bytes in all (grids), or of these elements (index maps), is collective; others wait for those
 * that a rank gets cells from, or gives cells to. Every rank makes the same calls in the same
 * order. */
int phl_redistribution_forward(phl_redistribution redistribution, const phl_field* from,
                               const phl_field* to, int count);
/* Collective: what the first call with such arrays would do. Nothing where that is done. */
int phl_redistribution_prepare(phl_redistribution redistribution, const phl_field* from,
                               const phl_field* to, int count);
/* to[i] → from[i]. */
int phl_redistribution_back(phl_redistribution redistribution, const phl_field* from,
                            const phl_field* to, int count);
/* Local. */
int phl_redistribution_free(phl_redistribution* redistribution);

/* Collective. Every cell of a field, from its owner, into `whole` on `root`; elsewhere `whole`
 * does not matter. It has the grid's extents (along a staggered dimension that is not periodic
 * one value more), the field's order, element and components, and no halo. Cells of blocks of
 * land keep their values. At most two messages of 32 MiB are under way: no rank needs more
 * memory beside these arrays. */
int phl_cartesian_gather(phl_cartesian domain, const phl_field* field, void* whole, int root);
/* Collective. The other way: what ranks own of the field. Ghosts are not written. */
int phl_cartesian_scatter(phl_cartesian domain, const void* whole, const phl_field* field,
                          int root);

/* Local. Zeroed memory that the other ranks of the node can reach: arrays in it are exchanged with
 * fewer copies. It stays as long as an exchange uses it. Releasing what was not allocated here, or
 * twice, is an error. */
int phl_allocate(int64_t bytes, void** memory);
int phl_release(void* memory);

/* For programs without MPI's Fortran interface: MPI_Init and MPI_Finalize, unless that was done;
 * the world as a Fortran communicator. */
int phl_start(int* world);
int phl_stop(void);

#ifdef __cplusplus
}
#endif
#endif
