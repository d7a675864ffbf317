/* Placement for C, and through it for Fortran and Python. Link with libparhelion.
 *
 * Functions return 0, or an error code (enum phl_status in phl.h) that phl_last_error explains.
 * Levels, units, members and positions count from 0. Grids and coordinates have one entry per
 * dimension, tables of grid points the last dimension fastest. Returned texts and tables live as
 * long as their handle. Functions are local, but for phl_placed_to_cart, phl_placed_sub and those
 * that take a communicator: collective. */
#ifndef PARHELION_PLACEMENT_C_INTERFACE_H
#define PARHELION_PLACEMENT_C_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A machine, a process grid placed on one, a placed communicator. */
typedef struct phl_machine phl_machine;
typedef struct phl_placement phl_placement;
typedef struct phl_placed phl_placed;

/* Maximum per machine, from the node inwards. */
#define PHL_MAX_LEVELS 10

/* Per level: jsum, jmax, then both in bytes. */
typedef int64_t phl_scores[PHL_MAX_LEVELS][4];

/* As in phl.h. */
const char* phl_last_error(void);

/* 1 to 4 dimensions; `periodic` has one entry per dimension, or is NULL. */
typedef struct phl_process_grid {
  int dimensions;
  const int *extents, *periodic;
} phl_process_grid;

/* What every grid point sends: `count` steps of `bytes` (NULL: 1), or, with `extent`, of a halo of
 * `halo` cells of a rank with that many cells. */
typedef struct phl_stencil {
  int count;
  const int* offsets;
  const int64_t *bytes, *extent;
  int halo, bytes_per_cell;
} phl_stencil;

/* As fitted by `parhelion model fit`, in seconds. Per named level ("node numa core"): a message
 * with that outermost boundary, and a byte leaving its busiest unit. */
typedef struct phl_exchange_costs {
  const char* levels;
  const double *message_s, *byte_s;
  double copied_byte_s, fixed_s;
} phl_exchange_costs;

/* `topology`: "node:27 pack:2 numa:4 l3:4 core:4", "xml:FILE" for a node described by hwloc, or
 * "here" for nodes like this one. `ranks_per_node`: one entry, or one per node. `compact`: 0
 * spreads a node's ranks over its units, 1 fills its cores in order. */
int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
    int compact, phl_machine** machine);
void phl_machine_free(phl_machine* machine);
/* Names and numbers of units per level; `source` of the description. */
typedef struct phl_machine_facts {
  int size, nodes, levels;
  const char* level[PHL_MAX_LEVELS];
  int units[PHL_MAX_LEVELS];
  const char* source;
} phl_machine_facts;
/* Fills `facts`. */
int phl_machine_describe(const phl_machine* machine, phl_machine_facts* facts);
/* Units of the ranks at `count` positions in the machine's hierarchical order, numbered over the
 * machine or within their node. `units` may alias `positions`. */
int phl_machine_units(const phl_machine* machine, int level, int within_node, int count,
    const int* positions, int* units);

/* Places automatically, or by a `method` of the portfolio ("blocked", …) unless NULL or empty.
 * `objective`: 0 for Jsum, 1 for Jmax. `costs`, unless NULL: minimizes the predicted time; the
 * objective breaks ties, and the stencil needs `extent`. */
int phl_place(const phl_machine* machine, const phl_process_grid* grid, const phl_stencil* stencil,
    int objective, int refine, const char* method, const phl_exchange_costs* costs,
    phl_placement** placement);
/* Places level by level, as published for hwcart: `levels` and `blocks` are, e.g., "node l3 core"
 * and {3,3,3, 2,2,1, 2,1,1}. `numbering`: "XYZ", …; empty: last dimension fastest. */
int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
    const int* blocks, const int* periodic, const char* numbering, phl_placement** placement);
void phl_placement_free(phl_placement* placement);
/* Each grid point's position in the machine's hierarchical order; points that local search moved;
 * members of the portfolio; methods left out. */
typedef struct phl_placement_facts {
  int dimensions, grid[4];
  const int* positions;
  int moved, members;
  const char* note;
} phl_placement_facts;
/* Fills `facts`. */
int phl_placement_describe(const phl_placement* placement, phl_placement_facts* facts);
/* Scores of this placement under any stencil. */
int phl_placement_scores(
    const phl_placement* placement, const phl_stencil* stencil, phl_scores scores);
/* A member of the portfolio; −1: the placement itself. `levels` is 0 if not scored, for the given
 * `reason`. `seconds`: predicted, with costs. */
typedef struct phl_member {
  const char *name, *reason;
  double seconds;
  int levels;
  phl_scores scores;
} phl_member;
/* Fills `facts`. */
int phl_placement_member(const phl_placement* placement, int member, phl_member* facts);

/* Traffic between nodes in one exchange. `nodes`: of every grid point. `pairs` receives the number
 * of node pairs; `traffic`, unless NULL, six numbers of each of the first `room`: sending and
 * receiving node, messages and bytes rank to rank, then of the transport node_aware, with bytes −1
 * if the stencil does not specify the cells. */
int phl_node_pairs(const phl_process_grid* grid, const int* nodes, const phl_stencil* stencil,
    int room, int* pairs, int64_t* traffic);
/* Messages of node_aware from one node to another, for `bytes` bytes of `contributors` ranks. */
int phl_node_messages(int64_t bytes, int64_t contributors);

/* Process grids of which exactly `ranks` places contain a nonzero cell of `mask` (one byte per cell
 * of `cells`), least halo first (one width per dimension, 0 for the tile axis); other places have
 * no rank (CartesianOptions::mask). `grids` receives `room` of them, padded with 0. Without any,
 * the error names the nearest numbers of ranks. */
int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
    const int* halo, int room, int* grids);
/* The machine's process grid over `cells` that keeps most halo bytes inside nodes. `bytes` receives
 * one entry per offset. */
int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
    const phl_stencil* stencil, const int* periodic, int objective, int* grid, int64_t* bytes);
/* A rank is the sum of coordinates times `strides`. `numbering`: "XYZ", "ZYX", …; empty: last
 * dimension fastest. */
int phl_numbering(const phl_process_grid* grid, const char* numbering, int* strides);

/* Communicators are Fortran handles (MPI_Comm_c2f, MPI_Comm_f2c; comm%MPI_VAL, Comm.py2f()).
 *
 * Collective over `parent`. The extents of `grid` or `cells` may be NULL; both, if `levels` and
 * `blocks` place by hand. A stencil without steps: faces. `costs`: as in phl_place, needs `cells`,
 * or NULL. A negative `node_color`: nodes by shared memory. Every rank calls the local
 * phl_placed_free, in any order; the next phl_placed_create on the same parent, or the parent's
 * MPI_Comm_free, then frees the communicator. */
int phl_placed_create(int parent, const phl_process_grid* grid, const int64_t* cells,
    const phl_stencil* stencil, int objective, const char* levels, const int* blocks,
    const char* numbering, int node_color, const phl_exchange_costs* costs, phl_placed** placed);
void phl_placed_free(phl_placed* placed);
/* The communicator and this rank in it. Scores and traffic between nodes of the placement ([0]) and
 * of ranks node after node ([1]): messages and bytes rank to rank, both of the busiest node, then
 * these four for node_aware. */
typedef struct phl_placed_facts {
  int comm, rank, dimensions, grid[4], levels;
  const char* level[PHL_MAX_LEVELS];
  phl_scores scores[2];
  int64_t between_nodes[2][8];
  const char* description;
} phl_placed_facts;
/* Fills `facts`. */
int phl_placed_describe(const phl_placed* placed, phl_placed_facts* facts);
/* A rank's coordinates in the grid. */
int phl_placed_coords(const phl_placed* placed, int rank, int* coords);
/* MPI_PROC_NULL beyond the ends of the grid. */
int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank);
/* The caller frees the result with MPI_Comm_free. */
int phl_placed_to_cart(const phl_placed* placed, int* cart);
int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub);

/* Places the parts of any graph: part p sends bytes[i] to targets[i], starts[p] ≤ i < starts[p +
 * 1]. `positions` receives positions in the machine's hierarchical order; `text`, valid until this
 * thread's next call, the method and missing libraries. */
int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
    const int64_t* bytes, int objective, int* positions, const char** text);
/* Collective over `comm`: this rank's part sends bytes[i] to targets[i]. Rank r of `placed`, which
 * the caller frees with MPI_Comm_free, should own part r. */
int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
    int node_color, int* placed);

#ifdef __cplusplus
}
#endif
#endif
