#include <algorithm>

#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/placement/c_interface.h"
#include "parhelion/placement/placed_comm.hpp"
#include "values.hpp"

using namespace parhelion::placement;
using parhelion::c::guarded;
using parhelion::c::guarded_or;

struct phl_placed {
    PlacedComm comm;
    std::string description;
};

namespace {

// Every rank must reach the collective constructor, also one whose own arguments are wrong.
PlacedOptions options_from(int dimensions, const int* grid, const std::int64_t* cells,
                           const int* periodic) {
    PlacedOptions options;
    if (dimensions < 1 || dimensions > parhelion::max_dimensions) return options;
    if (grid) options.grid.assign(grid, grid + dimensions);
    if (cells) options.cells.assign(cells, cells + dimensions);
    options.periodic = flags_from(dimensions, periodic);
    return options;
}

}  // namespace

extern "C" {

int phl_placed_create(int parent, int dimensions, const int* grid, const int64_t* cells,
                      const int* periodic, int offset_count, const int* offsets, int halo,
                      int bytes_per_cell, int objective, const char* levels, const int* blocks,
                      const char* numbering, int node_color, const phl_exchange_costs* costs,
                      phl_placed** placed) {
    return guarded([&] {
        PlacedOptions options = options_from(dimensions, grid, cells, periodic);
        options.stencil = stencil_from(dimensions, offset_count, offsets, nullptr);
        options.halo = halo, options.bytes_per_cell = bytes_per_cell;
        options.objective = objective_from(objective);
        options.blocks = blocks_from(dimensions, levels, blocks);
        options.numbering = numbering ? numbering : "";
        options.node_color = node_color;
        if (costs) options.costs = costs_from(*costs);
        PlacedComm comm(parhelion::comm_from_fortran(parent), options);
        *placed = new phl_placed{comm, comm.describe()};
    });
}

int phl_discover(int comm, phl_machine** machine, int* position) {
    return guarded([&] {
        Discovered found = discover(parhelion::comm_from_fortran(comm));
        *position = found.position;
        *machine = new phl_machine{std::move(found.machine),
                                   found.source + (found.note.empty() ? "" : "; " + found.note)};
    });
}

void phl_placed_free(phl_placed* placed) { delete placed; }
int phl_placed_comm(const phl_placed* placed) { return MPI_Comm_c2f(placed->comm.comm()); }
int phl_placed_rank(const phl_placed* placed) { return placed->comm.rank(); }
const char* phl_placed_describe(const phl_placed* placed) { return placed->description.c_str(); }

int phl_placed_grid(const phl_placed* placed, int* grid) {
    std::ranges::copy(placed->comm.grid(), grid);
    return 0;
}

int phl_placed_coords(const phl_placed* placed, int rank, int* coords) {
    return guarded([&] {
        if (rank < 0 || rank >= placed->comm.size())
            throw parhelion::Error("rank " + std::to_string(rank) + " is not one of the " +
                                   std::to_string(placed->comm.size()) +
                                   " ranks of the placed communicator");
        std::ranges::copy(placed->comm.coords_of(rank), coords);
    });
}

int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank) {
    const auto dimensions = placed->comm.grid().size();
    return guarded([&] { *rank = placed->comm.rank_of({coords, coords + dimensions}); });
}

int phl_placed_to_cart(const phl_placed* placed, int* cart) {
    return guarded([&] { *cart = MPI_Comm_c2f(placed->comm.to_cart()); });
}

int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub) {
    const auto dimensions = static_cast<int>(placed->comm.grid().size());
    return guarded([&] { *sub = MPI_Comm_c2f(placed->comm.sub(flags_from(dimensions, remain))); });
}

int phl_placed_levels(const phl_placed* placed) {
    return placed->comm.placement().machine().levels();
}
const char* phl_placed_level(const phl_placed* placed, int level) {
    return guarded_or<const char*>(nullptr, [&] {
        const auto& names = placed->comm.placement().machine().level_names();
        return names[one_of(level, names.size(), "level")].c_str();
    });
}

int phl_placed_score(const phl_placed* placed, int level, int blocked, int64_t* score) {
    return guarded([&] {
        const auto& scores = blocked ? placed->comm.scores_blocked() : placed->comm.scores();
        export_score(scores[one_of(level, scores.size(), "level")], score);
    });
}

int phl_placed_between_nodes(const phl_placed* placed, int blocked, int64_t* between) {
    const BetweenNodes& found =
        blocked ? placed->comm.between_nodes_blocked() : placed->comm.between_nodes();
    for (const NodeMessages& each : {found.pairwise, found.aggregated})
        for (const std::int64_t value :
             {each.messages, each.bytes, each.busiest_messages, each.busiest_bytes})
            *between++ = value;
    return 0;
}

}  // extern "C"
