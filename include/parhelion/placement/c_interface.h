/* Placement for C, and for Fortran and Python through it. Link with libparhelion.
 *
 * Functions return 0, or the kind of the mistake (enum phl_status in phl.h); phl_last_error then
 * tells what, where and what to do. Levels, units, members and positions count from 0. Grids and
 * coordinates have one entry per dimension, tables of grid points the last dimension fastest.
 * Texts and tables that a function gives live as long as their handle. Only the functions that take
 * a communicator, and phl_placed_to_cart and phl_placed_sub, are collective. */
#ifndef PARHELION_PLACEMENT_C_INTERFACE_H
#define PARHELION_PLACEMENT_C_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles: a machine, a process grid placed on one, a placed communicator. */
typedef struct phl_machine phl_machine;
typedef struct phl_placement phl_placement;
typedef struct phl_placed phl_placed;

/* Of a machine at most, from the node down. */
#define PHL_MAX_LEVELS 10

/* Of each level: jsum, jmax, then both in bytes. */
typedef int64_t phl_scores[PHL_MAX_LEVELS][4];

/* As in phl.h. */
const char* phl_last_error(void);

/* 1 to 4 dimensions; `periodic` has one entry for each, or is NULL. */
typedef struct phl_process_grid {
    int dimensions;
    const int *extents, *periodic;
} phl_process_grid;

/* Who sends to whom: `count` steps. What travels along each: `bytes`, or 1 where that is NULL, or,
 * where `extent` is given, a halo of `halo` cells of a rank with so many cells. */
typedef struct phl_stencil {
    int count;
    const int* offsets;
    const int64_t *bytes, *extent;
    int halo, bytes_per_cell;
} phl_stencil;

/* What messages and bytes cost, as `parhelion model fit` finds it out: at each of the levels named
 * ("node numa core") a message whose outermost boundary is that level's, and a byte that leaves the
 * unit that most leave; a byte copied; and every exchange. */
typedef struct phl_exchange_costs {
    const char* levels;
    const double *message_s, *byte_s;
    double copied_byte_s, fixed_s;
} phl_exchange_costs;

/* A machine of `nodes` nodes. `topology` is "node:27 pack:2 numa:4 l3:4 core:4", or "xml:FILE" for
 * a node that hwloc described, or "here" for nodes like this one. `ranks_per_node` has one entry
 * for all nodes or one per node. `compact` is 0 to spread a node's ranks over its parts, 1 to fill
 * its cores in order. */
int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
                       int compact, phl_machine** machine);
void phl_machine_free(phl_machine* machine);
/* Ranks, nodes, levels, the name and the number of units of each; where the description comes
 * from. */
typedef struct phl_machine_facts {
    int size, nodes, levels;
    const char* level[PHL_MAX_LEVELS];
    int units[PHL_MAX_LEVELS];
    const char* source;
} phl_machine_facts;
/* Local. `facts` is valid as long as the machine. */
int phl_machine_describe(const phl_machine* machine, phl_machine_facts* facts);
/* The units of the ranks at `count` positions in the machine's hierarchical order: over the whole
 * machine, or within their node. `units` may be `positions`. */
int phl_machine_units(const phl_machine* machine, int level, int within_node, int count,
                      const int* positions, int* units);

/* Automatic, or with one `method` of the portfolio ("blocked", …) where that is neither NULL nor
 * empty. `objective` is 0 for Jsum, 1 for Jmax. With `costs`, which may be NULL, the time that they
 * predict is made small, where node_aware collects messages between nodes, and the objective
 * decides between equals; the stencil then needs `extent`. */
int phl_place(const phl_machine* machine, const phl_process_grid* grid, const phl_stencil* stencil,
              int objective, int refine, const char* method, const phl_exchange_costs* costs,
              phl_placement** placement);
/* Level by level as published: `levels` and `blocks` describe, e.g., "node l3 core" and {3,3,3,
 * 2,2,1, 2,1,1}. `numbering` is "XYZ" or alike, or empty for last dimension fastest. */
int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
                      const int* blocks, const int* periodic, const char* numbering,
                      phl_placement** placement);
void phl_placement_free(phl_placement* placement);
/* The position of each grid point in the machine's hierarchical order; how many of them local
 * search moved, how many members the portfolio has, what was left out. */
typedef struct phl_placement_facts {
    int dimensions, grid[4];
    const int* positions;
    int moved, members;
    const char* note;
} phl_placement_facts;
/* Local. `facts` is valid as long as the placement. */
int phl_placement_describe(const phl_placement* placement, phl_placement_facts* facts);
/* Of this placement under any stencil. */
int phl_placement_scores(const phl_placement* placement, const phl_stencil* stencil,
                         phl_scores scores);
/* What the automatic choice looked at; member −1 is the placement itself. `levels` is 0 where it
 * was not scored: `reason` says why. `seconds` are predicted, where there were costs. */
typedef struct phl_member {
    const char *name, *reason;
    double seconds;
    int levels;
    phl_scores scores;
} phl_member;
/* Local, as phl_placement_describe. */
int phl_placement_member(const phl_placement* placement, int member, phl_member* facts);

/* What goes from node to node in one exchange, where `nodes` is the node of every grid point.
 * `pairs` receives the number of pairs of nodes, `traffic`, where that is not NULL, six numbers for
 * each of the first `room`: the node that sends, the one that receives, messages and bytes from
 * rank to rank, messages and bytes of the transport node_aware; −1 bytes where the stencil does not
 * tell which cells travel. */
int phl_node_pairs(const phl_process_grid* grid, const int* nodes, const phl_stencil* stencil,
                   int room, int* pairs, int64_t* traffic);
/* How many messages node_aware makes of what a node owes another, of which so many ranks have a
 * part. */
int phl_node_messages(int64_t bytes, int64_t contributors);

/* Process grids of which exactly `ranks` places have a cell of `mask` that is not 0 (a byte for
 * each of `cells`), least halo first (a width for each dimension, 0 for one that counts tiles):
 * `grids` receives `room` of them, with 0 behind the last. Others have no rank (see
 * CartesianOptions::mask). An error that names the nearest numbers of ranks where there is none. */
int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
                        const int* halo, int room, int* grids);
/* The grid for all of the machine's ranks over `cells` that keeps the most bytes of the stencil's
 * halo inside the nodes; `grid` receives it, `bytes` one entry per offset. */
int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
                    const phl_stencil* stencil, const int* periodic, int objective, int* grid,
                    int64_t* bytes);
/* How far apart neighbors along each dimension are numbered: the rank of a point is the sum of its
 * coordinates times these. "XYZ", "ZYX", … or empty for last dimension fastest. */
int phl_numbering(const phl_process_grid* grid, const char* numbering, int* strides);

/* Communicators are Fortran handles (MPI_Comm_c2f, MPI_Comm_f2c; comm%MPI_VAL, Comm.py2f()).
 *
 * Collective over `parent`. Either the extents of `grid` or `cells` may be NULL, or both where
 * `levels` and `blocks` place by hand; a stencil of no steps means faces. `costs` is as in
 * phl_place and needs `cells`, or is NULL. `node_color` is negative to find nodes by shared memory.
 * Free with phl_placed_free on every rank, in any order: local. The next phl_placed_create on the
 * same parent frees the communicator, at the latest the parent's MPI_Comm_free does. */
int phl_placed_create(int parent, const phl_process_grid* grid, const int64_t* cells,
                      const phl_stencil* stencil, int objective, const char* levels,
                      const int* blocks, const char* numbering, int node_color,
                      const phl_exchange_costs* costs, phl_placed** placed);
void phl_placed_free(phl_placed* placed);
/* The communicator and this rank in it. Scores and what goes between nodes ([0]) of the placement,
 * ([1]) of ranks numbered node after node: messages and bytes, then those of the busiest node, from
 * rank to rank; the same four where node_aware collects them. */
typedef struct phl_placed_facts {
    int comm, rank, dimensions, grid[4], levels;
    const char* level[PHL_MAX_LEVELS];
    phl_scores scores[2];
    int64_t between_nodes[2][8];
    const char* description;
} phl_placed_facts;
/* Local. `facts` is valid until phl_placed_free. */
int phl_placed_describe(const phl_placed* placed, phl_placed_facts* facts);
/* Where a rank is in the grid. Local. */
int phl_placed_coords(const phl_placed* placed, int rank, int* coords);
/* MPI_PROC_NULL where the grid ends. */
int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank);
/* Collective over the placed communicator; the caller frees what it gets with MPI_Comm_free. */
int phl_placed_to_cart(const phl_placed* placed, int* cart);
int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub);

/* Parts that exchange along any graph: part p sends bytes[i] to targets[i] for starts[p] ≤ i <
 * starts[p + 1]. `positions` receives each part's place in the machine's hierarchical order, `text`
 * what was chosen and what was missing, until the next call of this thread. */
int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
                    const int64_t* bytes, int objective, int* positions, const char** text);
/* Collective over `comm`: this rank's part sends bytes[i] to targets[i]. In `placed` rank r is who
 * should own part r; the caller frees it with MPI_Comm_free. */
int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
                    int node_color, int* placed);

#ifdef __cplusplus
}
#endif
#endif
