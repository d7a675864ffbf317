/* Placement for C, and for Fortran and Python through it. Link with libparhelion.
 *
 * Functions return 0, or the kind of the mistake (enum phl_status in phl.h); phl_last_error then
 * tells what, where and what to do. Those that return a number or a text return -1 or NULL then.
 * Levels, units, members and positions are counted from 0. Coordinates and grids have as many
 * entries as the placement has dimensions. Nothing here is collective except the functions that
 * take a communicator. */
#ifndef PARHELION_PLACEMENT_C_INTERFACE_H
#define PARHELION_PLACEMENT_C_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles: a machine, and a process grid placed on one. */
typedef struct phl_machine phl_machine;
typedef struct phl_placement phl_placement;

/* As in phl.h. */
const char* phl_last_error(void);

/* A machine of `nodes` nodes. `topology` is "node:27 pack:2 numa:4 l3:4 core:4", or "xml:FILE" for
 * a node that hwloc described, or "here" for nodes like this one. `ranks_per_node` has one entry
 * for all nodes or one per node. `compact` is 0 to spread a node's ranks over its parts, 1 to fill
 * its cores in order. Free with phl_machine_free. */
int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
                       int compact, phl_machine** machine);
/* Collective over `comm`: the machine as its ranks really sit on it, and this rank's position. Free
 * with phl_machine_free. */
int phl_discover(int comm, phl_machine** machine, int* position);
void phl_machine_free(phl_machine* machine);
int phl_machine_size(const phl_machine* machine);
int phl_machine_nodes(const phl_machine* machine);
int phl_machine_levels(const phl_machine* machine);
int phl_machine_units(const phl_machine* machine, int level);
const char* phl_machine_level(const phl_machine* machine, int level);
/* Unit of the rank at `position` in the machine's hierarchical order: over the whole machine, or
 * within its node. */
int phl_machine_unit(const phl_machine* machine, int level, int position);
int phl_machine_unit_in_node(const phl_machine* machine, int level, int position);
/* Where the description comes from and what a better source would have given. */
const char* phl_machine_source(const phl_machine* machine);

/* Automatic, or with one `method` of the portfolio ("blocked", …) where that is not empty.
 * `offsets` has `offset_count` × `dimensions` steps, `bytes` one entry per offset or is NULL (1
 * each); `periodic` one entry per dimension. `objective` is 0 for Jsum, 1 for Jmax. Free with
 * phl_placement_free. */
int phl_place(const phl_machine* machine, int dimensions, const int* grid, const int* periodic,
              int offset_count, const int* offsets, const int64_t* bytes, int objective, int refine,
              const char* method, phl_placement** placement);

/* What goes from node to node in one exchange, where `nodes` is the node of every grid point, last
 * dimension fastest, and every rank has `extent` cells, a halo of `halo` and `bytes_per_cell`;
 * `extent` may be NULL, then `bytes` is as in phl_place. `pairs` receives the number of pairs of
 * nodes, `traffic`, where that is not NULL, six numbers for each of the first `room`: the node that
 * sends, the one that receives, messages and bytes from rank to rank, messages and bytes of the
 * transport node_aware; −1 bytes where cells are not known. */
int phl_node_pairs(int dimensions, const int* grid, const int* periodic, const int* nodes,
                   int offset_count, const int* offsets, const int64_t* bytes,
                   const int64_t* extent, int halo, int bytes_per_cell, int room, int* pairs,
                   int64_t* traffic);

/* How many messages node_aware makes of what a node owes another, of which so many ranks have a
 * part. */
int phl_node_messages(int64_t bytes, int64_t contributors);

/* What messages and bytes cost, as `parhelion model fit` finds it out: at each of the levels named
 * ("node numa core") a message whose outermost boundary is that level's, and a byte that leaves the
 * unit that most leave; a byte copied; and every exchange. */
typedef struct phl_exchange_costs {
    const char* levels;
    const double* message_s;
    const double* byte_s;
    double copied_byte_s, fixed_s;
} phl_exchange_costs;
/* As phl_place, but what is made small is the time that the costs predict where node_aware collects
 * messages between nodes; the objective decides between equals. `seconds` receives it for the
 * placement, or a member of those it looked at. */
int phl_place_by_time(const phl_machine* machine, int dimensions, const int* grid,
                      const int* periodic, int offset_count, const int* offsets,
                      const int64_t* extent, int halo, int bytes_per_cell,
                      const phl_exchange_costs* costs, int objective, int refine,
                      const char* method, phl_placement** placement);
int phl_placement_seconds(const phl_placement* placement, int member, double* seconds);

/* Level by level as published: `levels` and `blocks` describe, e.g., "node l3 core" and {3,3,3,
 * 2,2,1, 2,1,1}. `numbering` is "XYZ" or alike, or empty for last dimension fastest. */
int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
                      const int* blocks, const int* periodic, const char* numbering,
                      phl_placement** placement);

/* Process grids of which exactly `ranks` places have a cell of `mask` that is not 0 (a byte for
 * each of `cells`, the last dimension fastest), least halo first (a width for each dimension, 0 for
 * one that counts tiles): `grids` receives `room` of them, with 0 behind the last. Others have no
 * rank (see CartesianOptions::mask). An error that names the nearest numbers of ranks where there
 * is none. */
int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
                        const int* halo, int room, int* grids);

/* The grid for all of the machine's ranks over `cells` that keeps the most bytes of a halo of
 * `halo` cells of `bytes_per_cell` inside the nodes; `grid` receives it, `bytes` one entry per
 * offset. */
int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
                    int offset_count, const int* offsets, int halo, int bytes_per_cell,
                    const int* periodic, int objective, int* grid, int64_t* bytes);

/* Give it back; its dimensions; its extents, one entry per dimension. */
void phl_placement_free(phl_placement* placement);
int phl_placement_dimensions(const phl_placement* placement);
int phl_placement_grid(const phl_placement* placement, int* grid);
/* Grid point ↔ position of its rank in the machine's hierarchical order. */
int phl_placement_position(const phl_placement* placement, const int* point, int* position);
int phl_placement_point(const phl_placement* placement, int position, int* point);
/* Positions of all grid points, last dimension fastest: for pictures and files, not for running
 * programs. */
int phl_placement_positions(const phl_placement* placement, int* positions);
/* Units of all grid points at a level, likewise; over the whole machine, or counted within their
 * node. */
int phl_placement_units(const phl_placement* placement, int level, int within_node, int* units);
int phl_placement_moved(const phl_placement* placement);
/* jsum, jmax, then both in bytes, of this placement at a level under a stencil. */
int phl_placement_score(const phl_placement* placement, int offset_count, const int* offsets,
                        const int64_t* bytes, int level, int64_t* score);

/* What the automatic choice looked at. Member −1 is the placement itself. */
int phl_placement_members(const phl_placement* placement);
const char* phl_placement_member_name(const phl_placement* placement, int member);
const char* phl_placement_member_reason(const phl_placement* placement, int member);
int phl_placement_member_score(const phl_placement* placement, int member, int level,
                               int64_t* score);
const char* phl_placement_note(const phl_placement* placement);

/* Rank ↔ coordinates under a numbering: "XYZ", "ZYX", … or empty for last dimension fastest. */
int phl_numbering_rank(int dimensions, const int* grid, const char* numbering, const int* point,
                       int* rank);
int phl_numbering_coords(int dimensions, const int* grid, const char* numbering, int rank,
                         int* point);

/* Placed communicators. Communicators are Fortran handles (MPI_Comm_c2f, MPI_Comm_f2c;
 * comm%MPI_VAL, Comm.py2f()).
 *
 * Collective over `parent`. Either `grid` or `cells` may be NULL, or both where `levels` and
 * `blocks` place by hand; `offset_count` 0 means faces. `costs` is as in phl_place_by_time and
 * needs `cells`, or is NULL. `node_color` is negative to find nodes by shared memory. Free with
 * phl_placed_free on every rank, in any order: local. The next phl_placed_create on the same parent
 * frees the communicator, at the latest the parent's MPI_Comm_free does. */
typedef struct phl_placed phl_placed;
int phl_placed_create(int parent, int dimensions, const int* grid, const int64_t* cells,
                      const int* periodic, int offset_count, const int* offsets, int halo,
                      int bytes_per_cell, int objective, const char* levels, const int* blocks,
                      const char* numbering, int node_color, const phl_exchange_costs* costs,
                      phl_placed** placed);
void phl_placed_free(phl_placed* placed);
int phl_placed_comm(const phl_placed* placed);
int phl_placed_rank(const phl_placed* placed);
int phl_placed_grid(const phl_placed* placed, int* grid);
int phl_placed_coords(const phl_placed* placed, int rank, int* coords);
/* MPI_PROC_NULL where the grid ends. */
int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank);
/* Collective over the placed communicator; the caller frees what it gets with MPI_Comm_free. */
int phl_placed_to_cart(const phl_placed* placed, int* cart);
int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub);
const char* phl_placed_describe(const phl_placed* placed);
/* jsum, jmax and both in bytes at a level; with `blocked` those of ranks numbered node after node.
 */
int phl_placed_levels(const phl_placed* placed);
const char* phl_placed_level(const phl_placed* placed, int level);
int phl_placed_score(const phl_placed* placed, int level, int blocked, int64_t* score);
/* Messages and bytes between nodes, then those of the busiest node, from rank to rank; the same
 * four where node_aware collects them. */
int phl_placed_between_nodes(const phl_placed* placed, int blocked, int64_t* between);

/* Parts that exchange along any graph: part p sends bytes[i] to targets[i] for starts[p] ≤ i <
 * starts[p + 1]. `positions` receives each part's place in the machine's hierarchical order;
 * `chosen` and `note` go to phl_place_text after the call. */
int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
                    const int64_t* bytes, int objective, int* positions);
const char* phl_place_text(void);
/* Collective over `comm`: this rank's part sends bytes[i] to targets[i]. In `placed` rank r is who
 * should own part r; the caller frees it with MPI_Comm_free. */
int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
                    int node_color, int* placed);

#ifdef __cplusplus
}
#endif
#endif
