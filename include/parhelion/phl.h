/* C interface. Link with libparhelion. Placement: parhelion/placement/c_interface.h.
 *
 * Functions return enum phl_status; phl_last_error has the message. ..._create functions make
 * handles, ..._free functions set them to NULL; one that is NULL, freed or of another kind gives
 * PHL_ERROR_HANDLE. "Collective": every rank of the communicator calls, and every rank reports
 * errors. Other functions report errors only on the calling rank; its neighbors then wait, or end
 * with PHL_ERROR_TIMEOUT if PARHELION_TIMEOUT is set. Ids, cells, components, blocks and ranks
 * start at 0. Options and output pointers may be NULL. The caller owns arrays. Exchanges, sums and
 * redistributions outlive the handles of their domains and maps. Threads may use different handles
 * at once. */
#ifndef PARHELION_PHL_H
#define PARHELION_PHL_H

#include <mpi.h>
#include <stdint.h>

#include "parhelion/core/kinds.h"
#include "parhelion/core/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return values of all functions. */
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

/* PHL_INT8 … PHL_INT64, PHL_UINT8 … PHL_UINT64, PHL_FLOAT32, PHL_FLOAT64, PHL_COMPLEX64,
 * PHL_COMPLEX128 (core/kinds.h). PHL_BYTES: opaque, copied and never added. */
enum phl_scalar { PHL_BYTES = 0, PHL_SCALARS(PHL_NAME) PHL_SCALAR_COUNT };

/* How values are combined: PHL_REPLACE (0), PHL_SUM, PHL_MIN, PHL_MAX, PHL_AND, PHL_OR, PHL_PROD,
 * or a number from phl_reduction_create. Complex numbers have no minimum or maximum, floating-point
 * numbers no bitwise reductions. */
enum phl_reduction { PHL_REDUCTIONS(PHL_NAME) };

/* An associative function: into[i] = into[i] ⊕ from[i] for `count` contiguous, aligned elements. It
 * need not commute: values are combined in ascending order of rank, reproducibly bit for bit. It
 * must not call this library or MPI. */
typedef void (*phl_combine)(void* into, const void* from, int64_t count, void* context);

/* Owner → ghost, or ghost → owner. */
enum phl_direction { PHL_FORWARD = 0, PHL_REVERSE };

/* PHL_ORDER_C: last dimension contiguous, components of a cell adjacent. PHL_ORDER_FORTRAN: first
 * dimension contiguous, components slowest. */
enum phl_order { PHL_ORDER_C = 0, PHL_ORDER_FORTRAN };

/* Device memory (docs/gpu.md) is detected; PHL_DEVICE declares it on ranks without cells. */
enum phl_memory_space { PHL_HOST = 0, PHL_DEVICE };

/* Ghosts across faces, edges and corners, or only faces; one message per neighbor, or dimension by
 * dimension. */
enum phl_neighbors { PHL_NEIGHBORS_FULL = 0, PHL_NEIGHBORS_FACES };
enum phl_algorithm { PHL_STANDARD = 0, PHL_BY_DIMENSION };

/* How ranks fill the process grid without a table. PHL_RANKS_OF_COMMUNICATOR: as MPI_Cart_create
 * numbered them, with its grid and periodicity. */
enum phl_rank_order {
  PHL_RANKS_LAST_FASTEST = 0,
  PHL_RANKS_FIRST_FASTEST,
  PHL_RANKS_OF_COMMUNICATOR
};
/* Array layers beyond a non-periodic end. Open: unused. Owned: the rank there owns as many as the
 * field's depth; its neighbors receive them as ghosts. */
enum phl_boundary { PHL_BOUNDARY_OPEN = 0, PHL_BOUNDARY_OWNED };

/* Maximum number of grid dimensions. */
#define PHL_MAX_DIMENSIONS 4

/* Side of an axis; mirror line of a fold: beyond the last row of cells, or through its centers. */
enum phl_side { PHL_UPPER = 0, PHL_LOWER };
enum phl_pivot { PHL_PIVOT_CORNER = 0, PHL_PIVOT_CENTER };
/* Joins two sides of a grid or of its tiles, or one to itself (a fold). See Seam in
 * domain/cartesian_domain.hpp.
 *
 *     phl_seam north = {.from_axis = 1, .to_axis = 1, .backward = 1 << 0}; */
typedef struct phl_seam {
  int32_t from_axis, from_side, from_tile; /* enum phl_side; tile if the grid has any: from 0,
                                              -1: every tile */
  int32_t to_axis, to_side, to_tile;
  int32_t axes[PHL_MAX_DIMENSIONS]; /* axis of `to` for each axis; all 0: swaps the axes of the
                                       two sides */
  int32_t backward;                 /* bit d: reverses axis d of `from` */
  int32_t pivot;                    /* enum phl_pivot */
} phl_seam;

/* Handles. Copies refer to the same object. */
typedef struct phl_index_map_handle* phl_index_map;
typedef struct phl_cartesian_handle* phl_cartesian;
typedef struct phl_exchange_handle* phl_exchange;
typedef struct phl_redistribution_handle* phl_redistribution;
typedef struct phl_point_sums_handle* phl_point_sums;
typedef struct phl_migration_handle* phl_migration;

/* Message of this thread's last error, valid until the next one. Local. */
const char* phl_last_error(void);
/* "0.1.0". Local. */
const char* phl_version(void);

/* `components` contiguous elements per cell; `bytes` per element with PHL_BYTES, else 0. */
typedef struct phl_element {
  int32_t scalar;
  int32_t components;
  int32_t bytes;
} phl_element;

/* Local. A reduction of arrays of this element (its components are separate elements); each rank
 * creates its own. phl_reduction_free sets the number to PHL_REPLACE; pending operations still
 * complete. */
int phl_reduction_create(phl_element element, phl_combine combine, void* context, int* reduction);
int phl_reduction_free(int* reduction);

/* See core/options.h. All zero: the library chooses. */
typedef struct phl_exchange_options {
  PHL_EXCHANGE_OPTIONS(PHL_C_OPTION)
} phl_exchange_options;
/* All zero. */
#define PHL_EXCHANGE_OPTIONS_INIT {0}

/* ---- Index maps: cells known by global ids ----
 *
 * A rank owns cells, and reads ghosts from other ranks or itself. Local numbering: owned cells,
 * then ghosts in the given order (duplicates allowed). `options` apply to the map's exchanges and
 * to derived maps. */

/* Collective. Rank r owns the `owned` ids after those of rank r − 1. */
int phl_index_map_create(MPI_Comm comm, int64_t owned, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map);
/* Collective. This rank owns `owned_ids`, in this order. With `self_ghosts` 0, an owned ghost is an
 * error. `owned` -1 on all ranks: the lowest rank with an id in ghost_ids owns it; cells ascend. */
int phl_index_map_create_with_ids(MPI_Comm comm, int64_t owned, const int64_t* owned_ids,
    int64_t ghosts, const int64_t* ghost_ids, int self_ghosts, const phl_exchange_options* options,
    phl_index_map* map);
/* Collective. Only `root` passes lists: each rank's numbers of owned cells and of ghosts, and all
 * ghost ids, rank by rank. */
int phl_index_map_create_from_root(MPI_Comm comm, int root, int64_t ranks, const int64_t* owned,
    const int64_t* ghost_counts, int64_t ghosts, const int64_t* ghost_ids,
    const phl_exchange_options* options, phl_index_map* map);
/* Collective. For codes without global ids: `cells` lists, per neighbor, the counts[k] cells shared
 * with ranks[k], as indices into this rank's arrays, in the same order on both. A point may be in
 * several lists; the lowest rank that holds it owns it. With `received_counts` (on all ranks, or
 * none), `cells` are sent and `received` receive. The map has only the listed cells, with places.
 * Error on every rank if two ranks' lists differ in length. */
int phl_index_map_create_from_neighbors(MPI_Comm comm, int64_t neighbors, const int32_t* ranks,
    const int64_t* counts, const int32_t* cells, const int64_t* received_counts,
    const int32_t* received, const phl_exchange_options* options, phl_index_map* map);
/* Collective. The cells of `of` in the program's own arrays: owned cell i at index places[i], ghost
 * i at ghost_places[i], from 0. For forward, reverse and sums of shared points, with any strides
 * (phl_values); split exchanges and sums copy through the map's buffer. */
int phl_index_map_create_placed(phl_index_map of, int64_t owned, const int32_t* places,
    int64_t ghosts, const int32_t* ghost_places, phl_index_map* map);
/* Collective. Every rank reads its part of the partition in folder `path` (data001, …). */
int phl_index_map_read(
    MPI_Comm comm, const char* path, const phl_exchange_options* options, phl_index_map* map);
/* Collective. Identity of the owned ids in the mesh file, from the folder of `map`: `per_id`
 * numbers per id, from 0 (cells and nodes: one; edges and faces: their points, padded with -1).
 * `keys` has room for `capacity` numbers. */
int phl_index_map_read_keys(
    phl_index_map map, const char* path, int32_t* per_id, int64_t capacity, int64_t* keys);
/* Collective. The owner names the ghosts: owned cell cells[i] of `owners`, whose ghosts are
 * ignored, becomes a ghost on ranks[i]. Sorted by owner, then in the owner's order: see
 * phl_index_map_ghosts. */
int phl_index_map_create_push(phl_index_map owners, int64_t count, const int32_t* cells,
    const int32_t* ranks, phl_index_map* map);
/* Collective. Entries of rows, numbered row by row: owned row i has counts[i]. The ghosts are those
 * of the ghost rows, in order. */
int phl_index_map_create_ragged(
    phl_index_map rows, int64_t owned_rows, const int64_t* counts, phl_index_map* map);
/* Collective. Appends as ghosts, ascending, those of `ids` that the rank neither owns nor has. */
int phl_index_map_add_ghosts(phl_index_map map, int64_t count, const int64_t* ids);
/* Collective. Converts global node ids of this rank's cells to local numbers; −1 (padding) stays.
 * Adds missing nodes as ghosts. */
int phl_index_map_localize(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells);
/* Local. Error while an exchange of the map is under way. */
int phl_index_map_free(phl_index_map* map);

/* Local. Owned cells and ghosts here, cells of all ranks, first owned id (−1: arbitrary ids). */
int phl_index_map_sizes(
    phl_index_map map, int32_t* owned, int32_t* ghosts, int64_t* global, int64_t* first);
/* Local. Ids and owners of all ghosts. */
int phl_index_map_ghosts(phl_index_map map, int64_t* ids, int32_t* owners);
/* Local, with places: array index of each owned cell and of each ghost, from 0. */
int phl_index_map_places(phl_index_map map, int32_t* owned, int32_t* ghosts);
/* Local. This rank's neighbors: `count`, of them at most `capacity` in `ranks`. */
int phl_index_map_neighbors(phl_index_map map, int32_t* count, int32_t capacity, int32_t* ranks);
/* Local. Cells that this rank sends and receives in a forward exchange. */
int phl_index_map_traffic(phl_index_map map, int64_t* cells_sent, int64_t* cells_received);
/* Local. */
int phl_index_map_to_global(phl_index_map map, int64_t count, const int32_t* cells, int64_t* ids);
/* Local. −1 for an id that is neither owned nor a ghost. */
int phl_index_map_to_local(phl_index_map map, int64_t count, const int64_t* ids, int32_t* cells);
/* Collective. Owners of the ids. */
int phl_index_map_owners(phl_index_map map, int64_t count, const int64_t* ids, int32_t* ranks);

/* `count` cells, `stride` bytes apart (0: contiguous). */
typedef struct phl_cells {
  void* first;
  int64_t count;
  int64_t stride;
} phl_cells;

/* An array of a call: all cells of the map in `owned` and `ghosts`; with ghosts.first NULL, all in
 * `owned`, ghosts last. */
typedef struct phl_values {
  phl_element element;
  phl_cells owned, ghosts;
  /* With places: `owned` is the whole array, at least up to the last place, ghosts included. */
  int64_t component_stride; /* bytes between the components of a cell; 0: contiguous */
  int64_t extents[PHL_MAX_DIMENSIONS], strides[PHL_MAX_DIMENSIONS]; /* dimensions of the cells,
                               fastest-numbered first, strides in bytes; all 0: one dimension with
                               the stride of `owned` */
} phl_values;

/* Collective. The ghosts of `of` that a mask selects: forward and reverse leave all others
 * unchanged. `mask` is an array of `of` with one integer or bool per cell, nonzero for ghosts to
 * keep; owned cells are ignored. Messages use MPI. Other calls need `of`. */
int phl_index_map_create_only(phl_index_map of, const phl_values* mask, phl_index_map* subset);
/* Collective: changes a subset's mask. One short message to each neighbor; does not allocate. Error
 * while an exchange of the subset is under way. */
int phl_index_map_update(phl_index_map subset, const phl_values* mask);
/* Owner → ghost, for `count` arrays, also of different elements, in one message per neighbor. The
 * first call for a list of elements and components is collective and compiles an exchange; later
 * ones wait only for neighbors, and may pass other arrays. Contiguous cells are exchanged in place,
 * arrays from phl_allocate with a single copy. After begin, owned values may change; phl_map_end
 * writes the ghosts. Several may be under way, begun and ended in the same order on all ranks.
 * Error if arrays overlap.
 *
 *     phl_map_forward(map, &(phl_values){.element = real, .owned = {x, 1002}}, 1); */
int phl_map_forward(phl_index_map map, const phl_values* arrays, int count);
/* Collective: unless done, the set-up of the first phl_map_forward or phl_map_reverse, or
 * phl_map_reduce_shared, of such arrays. */
int phl_map_prepare(phl_index_map map, const phl_values* arrays, int count);
int phl_map_prepare_shared(phl_index_map map, const phl_values* arrays, int count);
int phl_map_begin_forward(phl_index_map map, const phl_values* arrays, int count);
/* Ghost → owner, combined in a fixed order; with PHL_SUM, the adjoint of forward. After begin,
 * ghosts may change; end writes the owned values. */
int phl_map_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count);
int phl_map_begin_reverse(phl_index_map map, int reduction, const phl_values* arrays, int count);
/* Every holder of a shared point, owner or ghost, gets all holders' values combined in ascending
 * order of rank (PHL_REPLACE: the highest one's), bitwise equal on all ranks, in one round of
 * messages. Shared points must not be written between begin and end. A rank may hold a point only
 * once. The first call is collective, as for phl_map_forward. */
int phl_map_reduce_shared(phl_index_map map, int reduction, const phl_values* arrays, int count);
int phl_map_begin_reduce_shared(
    phl_index_map map, int reduction, const phl_values* arrays, int count);
/* Ends the operation on these arrays. */
int phl_map_end(phl_index_map map, const phl_values* arrays, int count);

/* Collective. Scatters or gathers the values of all cells, in the order of ids, between `root` and
 * every rank's owned cells. */
int phl_distribute(
    phl_index_map map, int root, phl_element element, phl_cells all, phl_cells owned);
int phl_collate(phl_index_map map, int root, phl_element element, phl_cells owned, phl_cells all);

/* ---- Migration of rows ---- */

/* Collective the first time for a communicator. No rank needs to know from which it receives. */
int phl_migration_create(MPI_Comm comm, phl_migration* migration);
/* Collective. Sends row i of each array, in `owned`, to ranks[i], possibly this rank; -1: to none.
 * One message per pair of ranks. `received`: rows received. A rank that sends none passes arrays of
 * the same elements. Allocates only for more rows than ever before. */
int phl_migration_send(phl_migration migration, int64_t rows, const int32_t* ranks,
    const phl_values* arrays, int count, int64_t* received);
/* Local. Writes the received rows into arrays with room for them, possibly the sent ones, sorted by
 * source rank, then in the order of its `ranks`. `sources`: source rank of each row. */
int phl_migration_receive(
    phl_migration migration, const phl_values* arrays, int count, int32_t* sources);
/* Local. */
int phl_migration_free(phl_migration* migration);

/* ---- Structured grids ---- */

/* One entry per dimension: {2} is {2, 0, 0, 0}. All zero: no halo, not periodic, chosen process
 * grid, even splits, one block per rank, full neighbors, standard algorithm. */
typedef struct phl_cartesian_options {
  int32_t halo_lower[PHL_MAX_DIMENSIONS], halo_upper[PHL_MAX_DIMENSIONS];
  int32_t periodic[PHL_MAX_DIMENSIONS];
  int32_t process_grid[PHL_MAX_DIMENSIONS];
  int32_t blocks_per_rank[PHL_MAX_DIMENSIONS];
  const int64_t* splits[PHL_MAX_DIMENSIONS]; /* cells per process coordinate, needs
                                                process_grid; NULL: even */
  int32_t neighbors;
  int32_t algorithm;
  int32_t rank_order;
  int32_t boundary;
  const int32_t* ranks;  /* rank at each place of the process grid, in the order of rank_order and
                            without places that the mask excludes; a rank may have several places;
                            -1: land; NULL: no table */
  int32_t rank_count;    /* entries of ranks; 0: one per rank */
  const phl_seam* seams; /* at most one per side; NULL: none */
  int32_t seam_count;
  int32_t has_tiles; /* 1: tile_axis counts tiles, which only seams join */
  int32_t tile_axis;
  const uint8_t* mask; /* nonzero: wet cell; last dimension fastest. Places of the process grid
                          without a wet cell get no rank; each other place needs one.
                          Read only on rank 0, during the call; on others any pointer but NULL.
                          NULL: no land */
  int64_t mask_extents[PHL_MAX_DIMENSIONS]; /* of the grid (all 0), or 1 in dimensions along which
                                               the mask is constant */
} phl_cartesian_options;

/* Collective, with equal arguments on all ranks. */
int phl_cartesian_create(MPI_Comm comm, int dimensions, const int64_t* extents,
    const phl_cartesian_options* options, phl_cartesian* domain);
/* Local. The domain of the points of staggered fields (1, 0 or -1 per dimension); on it these
 * fields have no stagger. */
int phl_cartesian_staggered(phl_cartesian domain, const int32_t* stagger, phl_cartesian* points);
int phl_cartesian_free(phl_cartesian* domain);
/* Local. The 12 seams of a cube with tiles 0 to 5 as faces, with as many cells along the first axis
 * as along the next. */
int phl_cube_seams(int first_axis, phl_seam* seams);
/* Local. Process grid, process coordinates of this or any rank, number of blocks of this rank. */
int phl_cartesian_process_grid(phl_cartesian domain, int32_t* grid, int32_t* coordinates);
int phl_cartesian_coordinates(phl_cartesian domain, int rank, int32_t* coordinates);
int phl_cartesian_blocks(phl_cartesian domain, int32_t* count);
/* Local. Cells lower ≤ x < upper of a block of this rank, without or with its halo. */
int phl_cartesian_owned(phl_cartesian domain, int block, int64_t* lower, int64_t* upper);
int phl_cartesian_extended(phl_cartesian domain, int block, int64_t* lower, int64_t* upper);
/* Local. Owner of a cell, −1 on land, and the number of its block there. */
int phl_cartesian_owner(phl_cartesian domain, const int64_t* cell, int32_t* rank, int32_t* block);

/* ---- Exchanges of arrays ---- */

/* One array, or one per block. Structured: the block with its halo, owned + stagger + lower + upper
 * values per dimension; fields may differ in stagger and depth. Index map: owned cells, then
 * ghosts, or (C order) ghosts in `ghosts`. */
typedef struct phl_field {
  phl_element element; /* components 0: one */
  int32_t order;
  int32_t own_halo; /* 0: the domain's halo; else halo_lower and halo_upper */
  int32_t halo_lower[PHL_MAX_DIMENSIONS], halo_upper[PHL_MAX_DIMENSIONS];
  int32_t own_depth; /* 0: exchanges the layers that both the array's halo and the domain's have;
                        else depth_lower and depth_upper */
  int32_t depth_lower[PHL_MAX_DIMENSIONS], depth_upper[PHL_MAX_DIMENSIONS];
  int32_t stagger[PHL_MAX_DIMENSIONS]; /* 1: on points, one more value on every rank; -1: on the
                                          upper faces of cells */
  int32_t changes_sign;                /* 1: beyond a fold, like vector components */
  int32_t vector;      /* >= 1: a component of the vector of this number, which seams rotate */
  int32_t along;       /* axis of the component */
  void* cells;         /* of the only block */
  void* ghosts;        /* index map */
  void* const* blocks; /* instead of `cells`: one array per block */
  int32_t block_count;
  int32_t space; /* enum phl_memory_space, equal on all ranks */
} phl_field;

/* Fields of one domain or index map; the other handle is NULL. */
typedef struct phl_group {
  phl_cartesian domain;
  phl_index_map map;
  const phl_field* field;
  int32_t fields;
} phl_group;

/* Collective. Compiles an exchange for the fields' layouts; it moves their arrays unless a call
 * names others. Error if arrays overlap. Groups share messages and one communicator. */
int phl_exchange_create_cartesian(phl_cartesian domain, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_exchange* exchange);
int phl_exchange_create_index_map(phl_index_map map, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_exchange* exchange);
int phl_exchange_create_groups(int groups, const phl_group* group,
    const phl_exchange_options* options, phl_exchange* exchange);
/* Local. Error while it is under way. */
int phl_exchange_free(phl_exchange* exchange);
/* Owner → ghost: begin and end. In between, owned cells must not be written, ghosts not accessed,
 * arrays not moved. `fields`: other arrays of the construction's layouts, all `count` fields in
 * order, across groups; NULL and 0: its own. Each rank chooses, without messages. Another layout is
 * an error on this rank; then nothing has begun. */
int phl_exchange_forward(phl_exchange exchange, const phl_field* fields, int count);
int phl_exchange_begin(phl_exchange exchange, const phl_field* fields, int count);
/* Ghost → owner, combined; with PHL_SUM, the adjoint of forward. */
int phl_exchange_reverse(phl_exchange exchange, int reduction, const phl_field* fields, int count);
int phl_exchange_begin_reverse(
    phl_exchange exchange, int reduction, const phl_field* fields, int count);
/* Local. Device stream (cudaStream_t, CUstream) of the four calls above from now on: work queued
 * after end sees the ghosts. A step ends on the stream where it began. NULL, the default:
 * synchronizes the device before and after. */
int phl_exchange_set_stream(phl_exchange exchange, void* stream);
/* Depth of the construction. */
#define PHL_AS_MADE (-1)

/* A subset of an exchange: field numbers from 0 across groups, and depth in cells: PHL_AS_MADE, or
 * at most the widest halo of these fields; 0 excludes a side. PHL_NEIGHBORS_FACES excludes ghosts
 * beyond two or more sides; not for fields on points. */
typedef struct phl_only {
  const int32_t* fields; /* NULL: all */
  int32_t field_count;
  int32_t own_depth; /* 0: the depth of the construction; else those below */
  int32_t depth_lower[PHL_MAX_DIMENSIONS], depth_upper[PHL_MAX_DIMENSIONS];
  int32_t neighbors; /* enum phl_neighbors */
} phl_only;
/* Local. The exchange of a subset, used and freed as any other, with arrays for its fields, in that
 * order; may be under way together with the whole. Equal subsets are one exchange; handles outlive
 * the whole's. Its first use is collective and creates its transports, those of the whole, without
 * benchmarks. */
int phl_exchange_only(phl_exchange exchange, const phl_only* only, phl_exchange* subset);
/* Collective: the set-up of a subset's first use, unless done. */
int phl_exchange_prepare(phl_exchange subset, const phl_field* fields, int count);
/* Collective: "auto" benchmarks and chooses again; ghosts of `fields`, as in phl_exchange_forward,
 * keep their values. The next use of each subset is collective. A transport chosen by name stays.
 * */
int phl_exchange_retune(phl_exchange exchange, const phl_field* fields, int count);
/* Between begin and end: progresses the exchange without waiting. `done`: 1 if end will return at
 * once, or nothing is under way. phl_exchange_end is still required and reports errors. */
int phl_exchange_test(phl_exchange exchange, int* done);
int phl_exchange_end(phl_exchange exchange);
int phl_exchange_under_way(phl_exchange exchange, int* under_way);

/* A ghost value that differs from its owner's. */
typedef struct phl_stale_ghost {
  int32_t field, owner;             /* field number across groups; rank of the owner */
  int32_t component, dimensions;    /* dimensions of `cell`: 1 for index maps, 0: unknown */
  int64_t cell[PHL_MAX_DIMENSIONS]; /* coordinates at the owner, or global id */
  char here[32], there[32];         /* the values as text */
} phl_stale_ghost;
/* Collective. This rank's ghosts that differ bytewise from their owners, in arrays as in
 * phl_exchange_forward, not written. `counts`: stale values per field; `first`: the first few of
 * each field, at most `capacity`; `told`: their number. The first call allocates as much memory as
 * the arrays take. */
int phl_exchange_stale(phl_exchange exchange, const phl_field* fields, int count, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told);
/* Collective. Error on every rank if any has stale ghosts; the message names the first one. */
int phl_exchange_check(phl_exchange exchange, const phl_field* fields, int count);
/* Local. Bytes and messages sent to other ranks per exchange. */
int phl_exchange_traffic(phl_exchange exchange, int direction, int64_t* bytes, int32_t* messages);
/* Local. Transport; measurements, human-readable. The text lives as long as the exchange. */
int phl_exchange_transport(phl_exchange exchange, const char** name);
int phl_exchange_explain(phl_exchange exchange, const char** text);

/* ---- Points of a grid that several ranks hold ---- */

/* Collective. Fields of one stagger, with arrays of equal extents and order. Adjacent blocks both
 * hold the plane of points between them; each call combines all holders' values of a point
 * (PHL_SUM, …) in ascending order of rank, bitwise equal on all ranks, in one round of messages
 * (seams: see PointSums in index_map/point_sums.hpp). A rank first adds up points that it holds
 * twice. Layers around the points are not accessed. */
int phl_point_sums_create(phl_cartesian domain, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_point_sums* sums);
/* `fields`: as in phl_exchange_forward. Points that other ranks hold must not be written between
 * begin and end. */
int phl_point_sums_reduce(phl_point_sums sums, int reduction, const phl_field* fields, int count);
int phl_point_sums_begin(phl_point_sums sums, int reduction, const phl_field* fields, int count);
int phl_point_sums_end(phl_point_sums sums);
/* Local. Error while they are under way. */
int phl_point_sums_free(phl_point_sums* sums);

/* ---- Redistribution between domains ---- */

/* Collective. Moves owned values between two domains of the same cells on one communicator. Cells
 * of index maps correspond by global id. Ghosts are not accessed. Fields on points need
 * phl_cartesian_staggered of both domains. */
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to,
    const phl_exchange_options* options, phl_redistribution* redistribution);
/* Axis d of `to` is axis axes[d] of `from`: transposes for FFTs, whose pencils keep their axis
 * fastest. NULL: the same axes. */
int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to, const int32_t* axes,
    const phl_exchange_options* options, phl_redistribution* redistribution);
/* from[i] → to[i], arrays of the first and the second domain, with equal elements and components,
 * in one message per pair of ranks. The first call for a number of bytes per cell in all arrays
 * (grids), or for a list of elements (index maps), is collective; later ones wait only for ranks
 * that send to or receive from this one. Every rank makes the same calls in the same order. */
int phl_redistribution_forward(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count);
/* Collective: the set-up of the first such call, unless done. */
int phl_redistribution_prepare(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count);
/* to[i] → from[i]. */
int phl_redistribution_back(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count);
/* Local. */
int phl_redistribution_free(phl_redistribution* redistribution);

/* Collective. Gathers every cell of a field into `whole` on `root`, ignored elsewhere: the grid's
 * extents (one more value along a staggered, non-periodic dimension), the field's order, element
 * and components, no halo. Cells on land keep their values. At most two messages of 32 MiB are in
 * flight, which bounds the memory. */
int phl_cartesian_gather(phl_cartesian domain, const phl_field* field, void* whole, int root);
/* Collective. Scatters `whole` to the owned cells of the field; ghosts are not written. */
int phl_cartesian_scatter(
    phl_cartesian domain, const void* whole, const phl_field* field, int root);

/* Local. Zeroed node-shared memory, whose arrays are exchanged with fewer copies; exchanges that
 * use it keep it alive. Releasing other memory, or twice, is an error. */
int phl_allocate(int64_t bytes, void** memory);
int phl_release(void* memory);

/* For programs without MPI's Fortran interface: MPI_Init and MPI_Finalize unless already done;
 * `world`: Fortran handle of MPI_COMM_WORLD. */
int phl_start(int* world);
int phl_stop(void);

#ifdef __cplusplus
}
#endif
#endif
