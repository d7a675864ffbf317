#include <array>
#include <cstring>

#include "core/environment.hpp"
#include "guard.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/placement/c_interface.h"
#include "parhelion/placement/graph.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "placement/node_topology.hpp"
#include "placement/problem.hpp"

using namespace parhelion;
using namespace parhelion::placement;
using namespace parhelion::c;

struct phl_machine : Machine {
  std::string source;
};
struct phl_placement : Placement {
  Member chosen;
  std::vector<Member> members;
  std::string note;
};
struct phl_placed : PlacedComm {
  std::string description;
};

static_assert(PHL_MAX_LEVELS == max_levels);

namespace {

std::vector<bool> flags_from(int count, const int* flags) {
  return flags ? std::vector<bool>(flags, flags + count) : std::vector<bool>{};
}

ProcessGrid grid_from(const phl_process_grid& grid) {
  require_dimensions(grid.dimensions);
  return make_grid(
      List(grid.extents, grid.dimensions, "extents"), flags_from(grid.dimensions, grid.periodic));
}

Stencil stencil_from(int dimensions, const phl_stencil& given) {
  Stencil stencil;
  for (int o = 0; o < given.count; ++o) {
    auto& [step, bytes] = stencil.offsets.emplace_back();
    std::copy_n(given.offsets + o * dimensions, dimensions, step.begin());
    if (given.bytes) bytes = given.bytes[o];
  }
  if (!given.extent) return stencil;
  return with_halo_bytes(std::move(stencil), {given.extent, given.extent + dimensions}, given.halo,
      given.bytes_per_cell);
}

std::map<std::string, std::vector<int>> blocks_from(
    int dimensions, const char* levels, const int* blocks) {
  std::map<std::string, std::vector<int>> by_level;
  for (const std::string& name : names_in(or_empty(levels))) {
    if (!by_level.emplace(name, std::vector<int>(blocks, blocks + dimensions)).second)
      refuse("blocks name the level ", name, " twice: give its blocks once");
    blocks += dimensions;
  }
  return by_level;
}

std::optional<ExchangeCosts> costs_from(const phl_exchange_costs* costs) {
  if (!costs) return {};
  ExchangeCosts by_level{{}, costs->copied_byte_s, costs->fixed_s};
  for (int i = 0; const std::string& name : names_in(or_empty(costs->levels))) {
    by_level.levels[level_name(name)] = {costs->message_s[i], costs->byte_s[i]};
    ++i;
  }
  return by_level;
}

void copy_scores(const Scores& scores, phl_scores to) {
  for (const auto& [edges_sum, edges_max, bytes_sum, bytes_max, sent] : scores)
    std::ranges::copy(std::array{edges_sum, edges_max, bytes_sum, bytes_max}, *to++);
}

void copy_names(const Machine& machine, const char** to) {
  for (const std::string& name : machine.level_names()) *to++ = name.c_str();
}

}  // namespace

extern "C" {

int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
    int compact, phl_machine** machine) {
  return guarded([&] {
    const Topology described = describe_nodes(topology, nodes);
    *machine = new phl_machine{
        make_machine(described, {ranks_per_node, ranks_per_node + entries}, Binding(compact != 0)),
        described.source};
  });
}
void phl_machine_free(phl_machine* machine) { delete machine; }

int phl_machine_describe(const phl_machine* machine, phl_machine_facts* facts) {
  *facts = {machine->size(), machine->nodes(), machine->levels(), {}, {}, machine->source.c_str()};
  copy_names(*machine, facts->level);
  for (int level = 0; level < facts->levels; ++level) facts->units[level] = machine->units(level);
  return 0;
}

int phl_machine_units(const phl_machine* machine, int level, int within_node, int count,
    const int* positions, int* units) {
  return guarded([&] {
    in_range(level, machine->levels() - 1, "level");
    for (int i = 0; i < count; ++i) {
      const int at = in_range(positions[i], machine->size() - 1, "position");
      units[i] = within_node ? machine->unit_in_node(level, at) : machine->unit_of(level, at);
    }
  });
}

int phl_place(const phl_machine* machine, const phl_process_grid* grid, const phl_stencil* stencil,
    int objective, int refine, const char* method, const phl_exchange_costs* costs,
    phl_placement** placement) {
  return guarded([&] {
    auto [made, scores, chosen, members, note, seconds] =
        place({grid_from(*grid), stencil_from(grid->dimensions, *stencil),
                  Objective(objective != 0), refine != 0, or_empty(method), costs_from(costs)},
            *machine);
    *placement = new phl_placement{made, {chosen, scores, "", seconds}, members, note};
  });
}

int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
    const int* blocks, const int* periodic, const char* numbering, phl_placement** placement) {
  return guarded([&] {
    *placement = new phl_placement{place_by_hand(*machine, blocks_from(dimensions, levels, blocks),
                                       flags_from(dimensions, periodic), or_empty(numbering)),
        {"by_hand", {}, ""}, {}, ""};
  });
}
void phl_placement_free(phl_placement* placement) { delete placement; }

int phl_placement_describe(const phl_placement* placement, phl_placement_facts* facts) {
  *facts = {placement->grid().dimensions, {}, placement->positions().data(),
      placement->moved_points(), static_cast<int>(placement->members.size()),
      placement->note.c_str()};
  std::ranges::copy(placement->grid().extent, facts->grid);
  return 0;
}

int phl_placement_scores(
    const phl_placement* placement, const phl_stencil* stencil, phl_scores scores) {
  return guarded([&] {
    copy_scores(placement->scores(stencil_from(placement->grid().dimensions, *stencil)), scores);
  });
}

int phl_placement_member(const phl_placement* placement, int member, phl_member* facts) {
  return guarded([&] {
    const auto& all = placement->members;
    const Member& of = member == -1
                           ? placement->chosen
                           : all[in_range<std::size_t>(member, std::ssize(all) - 1, "member")];
    *facts = {
        of.name.c_str(), of.reason.c_str(), of.seconds, static_cast<int>(of.scores.size()), {}};
    copy_scores(of.scores, facts->scores);
  });
}

int phl_node_pairs(const phl_process_grid* grid, const int* nodes, const phl_stencil* stencil,
    int room, int* pairs, int64_t* traffic) {
  return guarded([&] {
    const ProcessGrid points = grid_from(*grid);
    const auto found = node_pairs(
        points, stencil_from(grid->dimensions, *stencil), {nodes, nodes + points.size()});
    *pairs = found.size();
    for (const auto& [from, to, sent, bytes_sent, messages, bytes] : found) {
      if (!traffic || room-- <= 0) break;
      const std::int64_t numbers[] = {from, to, sent, bytes_sent, messages, bytes};
      traffic = std::ranges::copy(numbers, traffic).out;
    }
  });
}

int phl_node_messages(int64_t bytes, int64_t contributors) {
  return node_messages(bytes, contributors);
}

int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
    const int* halo, int room, int* grids) {
  return guarded([&] {
    require_dimensions(dimensions);
    const std::vector<global_index> extents(cells, cells + dimensions);
    const Mask wet = mask_of(extents, extents, mask);
    HaloWidth width = 0;
    std::copy_n(halo, dimensions, width.lower.begin());
    width.upper = width.lower;
    auto found = grids_with_land(ranks, extents, width, wet);
    std::erase_if(found, [=](const GridWithLand& each) { return each.ranks != ranks; });
    if (found.empty())
      choose_process_grid(ranks, extents, width, wet);  // throws; names the nearest numbers
    std::fill_n(grids, room * dimensions, 0);
    for (const GridWithLand& each : found)
      if (room-- > 0) grids = std::ranges::copy(each.grid, grids).out;
  });
}

int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
    const phl_stencil* stencil, const int* periodic, int objective, int* grid, int64_t* bytes) {
  return guarded([&] {
    require_dimensions(dimensions);
    const auto choice = choose_grid(*machine, {cells, cells + dimensions},
        stencil_from(dimensions, *stencil), stencil->halo, stencil->bytes_per_cell,
        flags_from(dimensions, periodic), Objective(objective != 0));
    std::ranges::copy(choice.grid.extents(), grid);
    for (const Offset& offset : choice.stencil.offsets) *bytes++ = offset.bytes;
  });
}

int phl_numbering(const phl_process_grid* grid, const char* numbering, int* strides) {
  return guarded([&] {
    const ProcessGrid checked = grid_from(*grid);
    const auto made = Numbering::parse(or_empty(numbering), checked.dimensions);
    int apart = 1;
    for (const int d : made.fastest_first()) strides[d] = apart, apart *= checked.extent[d];
  });
}

int phl_placed_create(int parent, const phl_process_grid* grid, const int64_t* cells,
    const phl_stencil* stencil, int objective, const char* levels, const int* blocks,
    const char* numbering, int node_color, const phl_exchange_costs* costs, phl_placed** placed) {
  return guarded([&] {
    const MPI_Comm over = comm_from_fortran(parent);
    const PlacedComm made = collectively(Communicator(over), "PlacedComm", [&] {
      const int dimensions = grid->dimensions;
      require_dimensions(dimensions);
      return PlacedComm(over,
          {List(grid->extents, grid->extents ? dimensions : 0, "extents"),
              List(cells, cells ? dimensions : 0, "cells"), flags_from(dimensions, grid->periodic),
              stencil_from(dimensions, *stencil), stencil->halo, stencil->bytes_per_cell,
              Objective(objective != 0), blocks_from(dimensions, levels, blocks),
              or_empty(numbering), node_color, costs_from(costs)});
    });
    *placed = new phl_placed{made, made.describe()};
  });
}
void phl_placed_free(phl_placed* placed) { delete placed; }

int phl_placed_describe(const phl_placed* placed, phl_placed_facts* facts) {
  return guarded([&] {
    const ProcessGrid& grid = placed->placement().grid();
    const Machine& machine = placed->placement().machine();
    *facts = {MPI_Comm_c2f(placed->comm()), placed->rank(), grid.dimensions, {}, machine.levels(),
        {}, {}, {}, placed->description.c_str()};
    std::ranges::copy(grid.extent, facts->grid);
    copy_names(machine, facts->level);
    copy_scores(placed->scores(), facts->scores[0]);
    copy_scores(placed->scores_blocked(), facts->scores[1]);
    const BetweenNodes both[] = {placed->between_nodes(), placed->between_nodes_blocked()};
    static_assert(sizeof both == sizeof facts->between_nodes);
    std::memcpy(facts->between_nodes, both, sizeof both);
  });
}

int phl_placed_coords(const phl_placed* placed, int rank, int* coords) {
  return guarded([&] {
    std::ranges::copy(placed->coords_of(in_range(rank, placed->size() - 1, "rank")), coords);
  });
}
int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank) {
  return guarded([&] { *rank = placed->rank_of({coords, coords + placed->grid().size()}); });
}
int phl_placed_to_cart(const phl_placed* placed, int* cart) {
  return guarded([&] { *cart = MPI_Comm_c2f(placed->to_cart()); });
}
int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub) {
  return guarded([&] {
    const int dimensions = placed->placement().grid().dimensions;
    *sub = MPI_Comm_c2f(placed->sub(flags_from(dimensions, remain)));
  });
}

int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
    const int64_t* bytes, int objective, int* positions, const char** text) {
  return guarded([&] {
    std::vector<PartEdges> graph;
    for (const int* end = starts + parts; starts != end; ++starts)
      graph.push_back(
          {{targets + starts[0], targets + starts[1]}, {bytes + starts[0], bytes + starts[1]}});
    const auto placed = place_graph(*machine, graph, Objective(objective != 0));
    std::ranges::copy(placed.position_of_part, positions);
    thread_local std::string told;
    told = placed.chosen + (placed.note.empty() ? "" : "; " + placed.note);
    *text = told.c_str();
  });
}

int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
    int node_color, int* placed) {
  return guarded([&] {
    const PartEdges own{{targets, targets + edges}, {bytes, bytes + edges}};
    *placed = MPI_Comm_c2f(
        place_parts(comm_from_fortran(comm), own, Objective(objective != 0), node_color));
  });
}

}  // extern "C"
