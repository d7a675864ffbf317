#include "parhelion/placement/c_interface.h"

#include <algorithm>

#include "core/node_messages.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/placement/placement.hpp"
#include "values.hpp"

using namespace parhelion::placement;
using parhelion::c::guarded;
using parhelion::c::guarded_or;

struct phl_placement {
    Placement placement;
    std::string chosen, note;
    Scores scores;
    std::vector<Member> members;
    double seconds = 0;
};

namespace {

ProcessGrid grid_from(int dimensions, const int* extents, const int* periodic) {
    if (dimensions < 1 || dimensions > parhelion::max_dimensions) return make_grid({});
    return make_grid({extents, extents + dimensions}, flags_from(dimensions, periodic));
}

// Of a rank: the level exists, and the position does.
int unit_at(const phl_machine* machine, int level, int position,
            int (Machine::*unit)(int, int) const) {
    return guarded_or<int>(-1, [&] {
        one_of(level, static_cast<std::size_t>(machine->machine.levels()), "level");
        one_of(position, static_cast<std::size_t>(machine->machine.size()), "position");
        return (machine->machine.*unit)(level, position);
    });
}

// Null for the placement itself.
const Member* member_of(const phl_placement* p, int member) {
    return member == -1 ? nullptr : &p->members[one_of(member, p->members.size(), "member")];
}

Coords padded(const ProcessGrid& grid, const int* point) {
    Coords coords{};
    for (int d = 0; d < grid.dimensions; ++d) {
        if (point[d] < 0 || point[d] >= grid.extent[d])
            throw parhelion::Error("coordinate " + std::to_string(point[d]) + " in dimension " +
                                   std::to_string(d) +
                                   " is outside the process grid, whose extent there is " +
                                   std::to_string(grid.extent[d]));
        coords[d] = point[d];
    }
    return coords;
}

Stencil stencil_of_halo(int dimensions, int count, const int* offsets, const int64_t* bytes,
                        const int64_t* extent, int halo, int bytes_per_cell) {
    Stencil stencil = stencil_from(dimensions, count, offsets, bytes);
    if (extent == nullptr) return stencil;
    return with_halo_bytes(std::move(stencil), {extent, extent + std::max(0, dimensions)}, halo,
                           bytes_per_cell);
}

phl_placement* placed_by(const phl_machine* machine, const Request& request) {
    auto found = place(request, machine->machine);
    return new phl_placement{std::move(found.placement),
                             found.chosen,
                             found.note,
                             found.scores,
                             found.members,
                             found.seconds};
}

Numbering numbering_from(const char* name, int dimensions) {
    return name && *name ? Numbering::parse(name, dimensions) : Numbering(dimensions);
}

}  // namespace

extern "C" {

int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
                       int compact, phl_machine** machine) {
    return guarded([&] {
        auto [described, source] = describe_nodes(topology, nodes);
        *machine =
            new phl_machine{make_machine(described, {ranks_per_node, ranks_per_node + entries},
                                         compact ? Binding::compact : Binding::spread),
                            source};
    });
}

void phl_machine_free(phl_machine* machine) { delete machine; }
int phl_machine_size(const phl_machine* machine) { return machine->machine.size(); }
int phl_machine_nodes(const phl_machine* machine) { return machine->machine.nodes(); }
int phl_machine_levels(const phl_machine* machine) { return machine->machine.levels(); }
int phl_machine_units(const phl_machine* machine, int level) {
    return guarded_or<int>(-1, [&] {
        one_of(level, static_cast<std::size_t>(machine->machine.levels()), "level");
        return machine->machine.units(level);
    });
}
const char* phl_machine_level(const phl_machine* machine, int level) {
    return guarded_or<const char*>(nullptr, [&] {
        const auto& names = machine->machine.level_names();
        return names[one_of(level, names.size(), "level")].c_str();
    });
}
int phl_machine_unit(const phl_machine* machine, int level, int position) {
    return unit_at(machine, level, position, &Machine::unit_of);
}
int phl_machine_unit_in_node(const phl_machine* machine, int level, int position) {
    return unit_at(machine, level, position, &Machine::unit_in_node);
}
const char* phl_machine_source(const phl_machine* machine) { return machine->source.c_str(); }

int phl_place(const phl_machine* machine, int dimensions, const int* grid, const int* periodic,
              int offset_count, const int* offsets, const int64_t* bytes, int objective, int refine,
              const char* method, phl_placement** placement) {
    return guarded([&] {
        *placement =
            placed_by(machine, {grid_from(dimensions, grid, periodic),
                                stencil_from(dimensions, offset_count, offsets, bytes),
                                objective_from(objective), refine != 0, method ? method : ""});
    });
}

int phl_place_by_time(const phl_machine* machine, int dimensions, const int* grid,
                      const int* periodic, int offset_count, const int* offsets,
                      const int64_t* extent, int halo, int bytes_per_cell,
                      const phl_exchange_costs* costs, int objective, int refine,
                      const char* method, phl_placement** placement) {
    return guarded([&] {
        *placement = placed_by(machine, {grid_from(dimensions, grid, periodic),
                                         stencil_of_halo(dimensions, offset_count, offsets, nullptr,
                                                         extent, halo, bytes_per_cell),
                                         objective_from(objective), refine != 0,
                                         method ? method : "", costs_from(*costs)});
    });
}

int phl_node_pairs(int dimensions, const int* grid, const int* periodic, const int* nodes,
                   int offset_count, const int* offsets, const int64_t* bytes,
                   const int64_t* extent, int halo, int bytes_per_cell, int room, int* pairs,
                   int64_t* traffic) {
    return guarded([&] {
        const auto points = grid_from(dimensions, grid, periodic);
        const auto stencil =
            stencil_of_halo(dimensions, offset_count, offsets, bytes, extent, halo, bytes_per_cell);
        const auto found = node_pairs(points, stencil, {nodes, nodes + points.size()});
        *pairs = static_cast<int>(found.size());
        for (int i = 0; traffic && i < std::min(room, *pairs); ++i) {
            const NodePair& pair = found[static_cast<std::size_t>(i)];
            for (const std::int64_t value :
                 {std::int64_t{pair.from}, std::int64_t{pair.to}, pair.pairs, pair.bytes_in_pairs,
                  pair.messages, pair.bytes})
                *traffic++ = value;
        }
    });
}

int phl_node_messages(int64_t bytes, int64_t contributors) {
    return static_cast<int>(parhelion::node_messages(bytes, contributors));
}

int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
                      const int* blocks, const int* periodic, const char* numbering,
                      phl_placement** placement) {
    return guarded([&] {
        *placement = new phl_placement{
            place_by_hand(machine->machine, blocks_from(dimensions, levels, blocks),
                          flags_from(dimensions, periodic), numbering ? numbering : ""),
            "by_hand",
            "",
            {},
            {},
            0};
    });
}

int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
                        const int* halo, int room, int* grids) {
    return guarded([&] {
        using namespace parhelion;
        const std::vector<global_index> extents(cells, cells + dimensions);
        const Mask wet = mask_of(extents, extents, mask);
        HaloWidth width;
        std::copy_n(halo, std::clamp(dimensions, 0, max_dimensions), width.lower.begin());
        width.upper = width.lower;
        std::vector<GridWithLand> found = grids_with_land(ranks, extents, width, wet);
        const auto fits = [&](const GridWithLand& each) { return each.ranks == ranks; };
        if (std::ranges::none_of(found, fits))
            choose_process_grid(ranks, extents, width, wet);  // names the nearest numbers
        std::fill_n(grids, room * dimensions, 0);
        for (const GridWithLand& each : found)
            if (fits(each) && room-- > 0)
                grids = std::copy(each.grid.begin(), each.grid.end(), grids);
    });
}

int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
                    int offset_count, const int* offsets, int halo, int bytes_per_cell,
                    const int* periodic, int objective, int* grid, int64_t* bytes) {
    return guarded([&] {
        const auto choice = choose_grid(machine->machine, {cells, cells + std::max(0, dimensions)},
                                        stencil_from(dimensions, offset_count, offsets, nullptr),
                                        halo, bytes_per_cell, flags_from(dimensions, periodic),
                                        objective_from(objective));
        std::copy_n(choice.grid.extent.begin(), dimensions, grid);
        for (const auto& offset : choice.stencil.offsets) *bytes++ = offset.bytes;
    });
}

void phl_placement_free(phl_placement* placement) { delete placement; }
int phl_placement_dimensions(const phl_placement* p) { return p->placement.grid().dimensions; }

int phl_placement_grid(const phl_placement* p, int* grid) {
    std::copy_n(p->placement.grid().extent.begin(), p->placement.grid().dimensions, grid);
    return 0;
}

int phl_placement_position(const phl_placement* p, const int* point, int* position) {
    return guarded([&] { *position = p->placement.position(padded(p->placement.grid(), point)); });
}

int phl_placement_point(const phl_placement* p, int position, int* point) {
    return guarded([&] {
        if (position < 0 || position >= p->placement.machine().size())
            throw parhelion::Error("position " + std::to_string(position) +
                                   " is not one of the machine's " +
                                   std::to_string(p->placement.machine().size()) + " ranks");
        const Coords coords = p->placement.point(position);
        std::copy_n(coords.begin(), p->placement.grid().dimensions, point);
    });
}

int phl_placement_positions(const phl_placement* p, int* positions) {
    return guarded([&] { std::ranges::copy(p->placement.positions(), positions); });
}

int phl_placement_units(const phl_placement* p, int level, int within_node, int* units) {
    const auto& machine = p->placement.machine();
    if (const int failed =
            guarded([&] { one_of(level, static_cast<std::size_t>(machine.levels()), "level"); }))
        return failed;
    if (const int failed = phl_placement_positions(p, units)) return failed;
    std::transform(units, units + machine.size(), units, [&](int position) {
        return within_node ? machine.unit_in_node(level, position)
                           : machine.unit_of(level, position);
    });
    return 0;
}

int phl_placement_moved(const phl_placement* p) { return p->placement.moved_points(); }

int phl_placement_score(const phl_placement* p, int offset_count, const int* offsets,
                        const int64_t* bytes, int level, int64_t* score) {
    return guarded([&] {
        const auto stencil =
            stencil_from(p->placement.grid().dimensions, offset_count, offsets, bytes);
        const auto scores = p->placement.scores(stencil);
        export_score(scores[one_of(level, scores.size(), "level")], score);
    });
}

int phl_placement_members(const phl_placement* p) { return static_cast<int>(p->members.size()); }

const char* phl_placement_member_name(const phl_placement* p, int member) {
    return guarded_or<const char*>(nullptr, [&] {
        const Member* found = member_of(p, member);
        return (found ? found->name : p->chosen).c_str();
    });
}

const char* phl_placement_member_reason(const phl_placement* p, int member) {
    return guarded_or<const char*>(nullptr, [&] {
        const Member* found = member_of(p, member);
        return found ? found->reason.c_str() : "";
    });
}

int phl_placement_member_score(const phl_placement* p, int member, int level, int64_t* score) {
    return guarded([&] {
        const Member* found = member_of(p, member);
        const auto& scores = found ? found->scores : p->scores;
        if (scores.empty())
            throw parhelion::Error(
                "this placement was not scored when it was made: ask phl_placement_score");
        export_score(scores[one_of(level, scores.size(), "level")], score);
    });
}

int phl_placement_seconds(const phl_placement* p, int member, double* seconds) {
    return guarded([&] {
        const Member* found = member_of(p, member);
        *seconds = found ? found->seconds : p->seconds;
    });
}

const char* phl_placement_note(const phl_placement* p) { return p->note.c_str(); }

int phl_numbering_rank(int dimensions, const int* grid, const char* numbering, const int* point,
                       int* rank) {
    return guarded([&] {
        const auto checked = grid_from(dimensions, grid, nullptr);
        *rank = numbering_from(numbering, dimensions).rank(checked.extent, padded(checked, point));
    });
}

int phl_numbering_coords(int dimensions, const int* grid, const char* numbering, int rank,
                         int* point) {
    return guarded([&] {
        const auto checked = grid_from(dimensions, grid, nullptr);
        one_of(rank, static_cast<std::size_t>(checked.size()), "rank");
        const Coords coords = numbering_from(numbering, dimensions).coords(checked.extent, rank);
        std::copy_n(coords.begin(), dimensions, point);
    });
}

}  // extern "C"
