#include <algorithm>

#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/placement/c_interface.h"
#include "parhelion/placement/graph.hpp"
#include "values.hpp"

using namespace parhelion::placement;
using parhelion::c::guarded;

namespace {

thread_local std::string last_text;

}  // namespace

extern "C" {

int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
                    const int64_t* bytes, int objective, int* positions) {
    return guarded([&] {
        std::vector<PartEdges> graph;
        for (int p = 0; p < parts; ++p)
            graph.push_back({{targets + starts[p], targets + starts[p + 1]},
                             {bytes + starts[p], bytes + starts[p + 1]}});
        const auto placed = place_graph(machine->machine, graph, objective_from(objective));
        std::ranges::copy(placed.position_of_part, positions);
        last_text = placed.chosen + (placed.note.empty() ? "" : "; " + placed.note);
    });
}

const char* phl_place_text(void) { return last_text.c_str(); }

int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
                    int node_color, int* placed) {
    return guarded([&] {
        const PartEdges own{{targets, targets + edges}, {bytes, bytes + edges}};
        *placed = MPI_Comm_c2f(place_parts(parhelion::comm_from_fortran(comm), own,
                                           objective_from(objective), node_color));
    });
}

}  // extern "C"
