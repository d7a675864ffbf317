#include "parhelion/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/concat.hpp"
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
using parhelion::c::guarded;

struct phl_machine {
  Machine machine;
  std::string source;
};

struct phl_placement : AutomaticPlacement {};

struct phl_placed {
  PlacedComm comm;
  std::string description;
};

static_assert(PHL_MAX_LEVELS == max_levels);

namespace {

Objective objective_from(int objective) { return objective ? Objective::jmax : Objective::jsum; }

std::vector<bool> flags_from(int count, const int* flags) {
  return flags ? std::vector<bool>(flags, flags + count) : std::vector<bool>{};
}

std::string text_from(const char* text) { return text ? text : ""; }

void require_dimensions(int dimensions) {
  if (dimensions < 1 || dimensions > max_dimensions)
    refuse(std::to_string(dimensions), " dimensions are given: use 1 to 4");
}

ProcessGrid grid_from(const phl_process_grid& grid) {
  require_dimensions(grid.dimensions);
  return make_grid(
      {grid.extents, grid.extents + grid.dimensions}, flags_from(grid.dimensions, grid.periodic));
}

Stencil stencil_from(int dimensions, const phl_stencil& given) {
  Stencil stencil;
  if (given.count > 0) require_dimensions(dimensions);
  for (int o = 0; o < given.count; ++o) {
    Offset offset;
    std::copy_n(given.offsets + o * dimensions, dimensions, offset.step.begin());
    if (given.bytes) offset.bytes = given.bytes[o];
    stencil.offsets.push_back(offset);
  }
  if (given.extent == nullptr) return stencil;
  return with_halo_bytes(std::move(stencil), {given.extent, given.extent + dimensions}, given.halo,
      given.bytes_per_cell);
}

std::map<std::string, std::vector<int>> blocks_from(
    int dimensions, const char* levels, const int* blocks) {
  std::map<std::string, std::vector<int>> by_level;
  for (const std::string& name : names_in(text_from(levels))) {
    if (!by_level.emplace(name, std::vector<int>(blocks, blocks + dimensions)).second)
      refuse("blocks name the level ", name, " twice: give its blocks once");
    blocks += dimensions;
  }
  return by_level;
}

std::optional<ExchangeCosts> costs_from(const phl_exchange_costs* costs) {
  if (costs == nullptr) return {};
  ExchangeCosts by_level{{}, costs->copied_byte_s, costs->fixed_s};
  std::size_t i = 0;
  for (const std::string& name : names_in(text_from(costs->levels))) {
    by_level.levels[level_name(name)] = {costs->message_s[i], costs->byte_s[i]};
    ++i;
  }
  return by_level;
}

int one_of(int index, int count, const char* what) {
  if (index < 0 || index >= count)
    refuse(what, " ", index, " does not exist: there are ", count, ", counted from 0");
  return index;
}

void copy_scores(const Scores& scores, phl_scores to) {
  for (const LevelScore& each : scores)
    std::ranges::copy(
        std::array{each.edges_sum, each.edges_max, each.bytes_sum, each.bytes_max}, *to++);
}

void copy_names(const Machine& machine, const char** to) {
  for (const std::string& name : machine.level_names()) *to++ = name.c_str();
}

void copy_between(const BetweenNodes& found, std::int64_t* to) {
  std::ranges::copy(std::bit_cast<std::array<std::int64_t, 8>>(found), to);
}

thread_local std::string last_text;

}  // namespace

extern "C" {

int phl_machine_create(const char* topology, int nodes, int entries, const int* ranks_per_node,
    int compact, phl_machine** machine) {
  return guarded([&] {
    const Topology described = describe_nodes(topology, nodes);
    *machine = new phl_machine{make_machine(described, {ranks_per_node, ranks_per_node + entries},
                                   compact ? Binding::compact : Binding::spread),
        described.source};
  });
}
void phl_machine_free(phl_machine* machine) { delete machine; }

int phl_machine_describe(const phl_machine* machine, phl_machine_facts* facts) {
  const Machine& of = machine->machine;
  *facts = {of.size(), of.nodes(), of.levels(), {}, {}, machine->source.c_str()};
  copy_names(of, facts->level);
  for (int level = 0; level < of.levels(); ++level) facts->units[level] = of.units(level);
  return 0;
}

int phl_machine_units(const phl_machine* machine, int level, int within_node, int count,
    const int* positions, int* units) {
  return guarded([&] {
    const Machine& of = machine->machine;
    one_of(level, of.levels(), "level");
    for (int i = 0; i < count; ++i) {
      one_of(positions[i], of.size(), "position");
      units[i] =
          within_node ? of.unit_in_node(level, positions[i]) : of.unit_of(level, positions[i]);
    }
  });
}

int phl_place(const phl_machine* machine, const phl_process_grid* grid, const phl_stencil* stencil,
    int objective, int refine, const char* method, const phl_exchange_costs* costs,
    phl_placement** placement) {
  return guarded([&] {
    *placement = new phl_placement{
        place({grid_from(*grid), stencil_from(grid->dimensions, *stencil),
                  objective_from(objective), refine != 0, text_from(method), costs_from(costs)},
            machine->machine)};
  });
}

int phl_place_by_hand(const phl_machine* machine, int dimensions, const char* levels,
    const int* blocks, const int* periodic, const char* numbering, phl_placement** placement) {
  return guarded([&] {
    auto made = place_by_hand(machine->machine, blocks_from(dimensions, levels, blocks),
        flags_from(dimensions, periodic), text_from(numbering));
    *placement = new phl_placement{{std::move(made), {}, "by_hand", {}, ""}};
  });
}
void phl_placement_free(phl_placement* placement) { delete placement; }

int phl_placement_describe(const phl_placement* placement, phl_placement_facts* facts) {
  const Placement& made = placement->placement;
  *facts = {made.grid().dimensions, {}, made.positions().data(), made.moved_points(),
      static_cast<int>(placement->members.size()), placement->note.c_str()};
  std::ranges::copy(made.grid().extent, facts->grid);
  return 0;
}

int phl_placement_scores(
    const phl_placement* placement, const phl_stencil* stencil, phl_scores scores) {
  return guarded([&] {
    const Placement& made = placement->placement;
    copy_scores(made.scores(stencil_from(made.grid().dimensions, *stencil)), scores);
  });
}

int phl_placement_member(const phl_placement* placement, int member, phl_member* facts) {
  return guarded([&] {
    const auto tell = [&](const std::string& name, const char* reason, double seconds,
                          const Scores& scores) {
      *facts = {name.c_str(), reason, seconds, static_cast<int>(scores.size()), {}};
      copy_scores(scores, facts->scores);
    };
    const AutomaticPlacement& own = *placement;
    if (member == -1) return tell(own.chosen, "", own.seconds, own.scores);
    const Member& of = own.members[one_of(member, static_cast<int>(own.members.size()), "member")];
    tell(of.name, of.reason.c_str(), of.seconds, of.scores);
  });
}

int phl_node_pairs(const phl_process_grid* grid, const int* nodes, const phl_stencil* stencil,
    int room, int* pairs, int64_t* traffic) {
  return guarded([&] {
    const ProcessGrid points = grid_from(*grid);
    const auto found = node_pairs(
        points, stencil_from(grid->dimensions, *stencil), {nodes, nodes + points.size()});
    *pairs = static_cast<int>(found.size());
    for (const auto& [from, to, sent, bytes_sent, messages, bytes] : found) {
      if (traffic == nullptr || room-- <= 0) break;
      const std::int64_t numbers[] = {from, to, sent, bytes_sent, messages, bytes};
      traffic = std::ranges::copy(numbers, traffic).out;
    }
  });
}

int phl_node_messages(int64_t bytes, int64_t contributors) {
  return static_cast<int>(node_messages(bytes, contributors));
}

int phl_grids_with_land(int ranks, int dimensions, const int64_t* cells, const uint8_t* mask,
    const int* halo, int room, int* grids) {
  return guarded([&] {
    const std::vector<global_index> extents(cells, cells + dimensions);
    const Mask wet = mask_of(extents, extents, mask);
    HaloWidth width;
    std::copy_n(halo, std::clamp(dimensions, 0, max_dimensions), width.lower.begin());
    width.upper = width.lower;
    std::vector<GridWithLand> found = grids_with_land(ranks, extents, width, wet);
    const auto fits = [&](const GridWithLand& each) { return each.ranks == ranks; };
    if (std::ranges::none_of(found, fits))
      choose_process_grid(ranks, extents, width, wet);  // throws; names the nearest numbers
    std::fill_n(grids, room * dimensions, 0);
    for (const GridWithLand& each : found)
      if (fits(each) && room-- > 0) grids = std::copy(each.grid.begin(), each.grid.end(), grids);
  });
}

int phl_choose_grid(const phl_machine* machine, int dimensions, const int64_t* cells,
    const phl_stencil* stencil, const int* periodic, int objective, int* grid, int64_t* bytes) {
  return guarded([&] {
    const auto choice = choose_grid(machine->machine, {cells, cells + std::max(0, dimensions)},
        stencil_from(dimensions, *stencil), stencil->halo, stencil->bytes_per_cell,
        flags_from(dimensions, periodic), objective_from(objective));
    std::copy_n(choice.grid.extent.begin(), dimensions, grid);
    for (const Offset& offset : choice.stencil.offsets) *bytes++ = offset.bytes;
  });
}

int phl_numbering(const phl_process_grid* grid, const char* numbering, int* strides) {
  return guarded([&] {
    const ProcessGrid checked = grid_from(*grid);
    const auto made = Numbering::parse(text_from(numbering), checked.dimensions);
    int apart = 1;
    for (const int d : made.fastest_first()) strides[d] = apart, apart *= checked.extent[d];
  });
}

int phl_placed_create(int parent, const phl_process_grid* grid, const int64_t* cells,
    const phl_stencil* stencil, int objective, const char* levels, const int* blocks,
    const char* numbering, int node_color, const phl_exchange_costs* costs, phl_placed** placed) {
  return guarded([&] {
    PlacedOptions options;
    const MPI_Comm over = comm_from_fortran(parent);
    validate_together(Communicator(over), [&] {
      const int dimensions = grid->dimensions;
      if (dimensions >= 1 && dimensions <= max_dimensions) {
        if (grid->extents) options.grid.assign(grid->extents, grid->extents + dimensions);
        if (cells) options.cells.assign(cells, cells + dimensions);
        options.periodic = flags_from(dimensions, grid->periodic);
      }
      options.stencil = stencil_from(dimensions, *stencil);
      options.halo = stencil->halo, options.bytes_per_cell = stencil->bytes_per_cell;
      options.objective = objective_from(objective);
      options.blocks = blocks_from(dimensions, levels, blocks);
      options.numbering = text_from(numbering);
      options.node_color = node_color;
      options.costs = costs_from(costs);
    });
    PlacedComm comm(over, options);
    *placed = new phl_placed{comm, comm.describe()};
  });
}
void phl_placed_free(phl_placed* placed) { delete placed; }

int phl_placed_describe(const phl_placed* placed, phl_placed_facts* facts) {
  return guarded([&] {
    const PlacedComm& comm = placed->comm;
    const Machine& machine = comm.placement().machine();
    *facts = {};
    facts->comm = MPI_Comm_c2f(comm.comm()), facts->rank = comm.rank();
    facts->dimensions = comm.placement().grid().dimensions;
    std::ranges::copy(comm.placement().grid().extent, facts->grid);
    facts->levels = machine.levels();
    copy_names(machine, facts->level);
    copy_scores(comm.scores(), facts->scores[0]);
    copy_scores(comm.scores_blocked(), facts->scores[1]);
    copy_between(comm.between_nodes(), facts->between_nodes[0]);
    copy_between(comm.between_nodes_blocked(), facts->between_nodes[1]);
    facts->description = placed->description.c_str();
  });
}

int phl_placed_coords(const phl_placed* placed, int rank, int* coords) {
  return guarded([&] {
    one_of(rank, placed->comm.size(), "rank");
    std::ranges::copy(placed->comm.coords_of(rank), coords);
  });
}
int phl_placed_rank_of(const phl_placed* placed, const int* coords, int* rank) {
  return guarded([&] {
    const PlacedComm& comm = placed->comm;
    *rank = comm.rank_of({coords, coords + comm.placement().grid().dimensions});
  });
}
int phl_placed_to_cart(const phl_placed* placed, int* cart) {
  return guarded([&] { *cart = MPI_Comm_c2f(placed->comm.to_cart()); });
}
int phl_placed_sub(const phl_placed* placed, const int* remain, int* sub) {
  return guarded([&] {
    const PlacedComm& comm = placed->comm;
    *sub = MPI_Comm_c2f(comm.sub(flags_from(comm.placement().grid().dimensions, remain)));
  });
}

int phl_place_graph(const phl_machine* machine, int parts, const int* starts, const int* targets,
    const int64_t* bytes, int objective, int* positions, const char** text) {
  return guarded([&] {
    std::vector<PartEdges> graph;
    for (int p = 0; p < parts; ++p)
      graph.push_back({{targets + starts[p], targets + starts[p + 1]},
          {bytes + starts[p], bytes + starts[p + 1]}});
    const auto placed = place_graph(machine->machine, graph, objective_from(objective));
    std::ranges::copy(placed.position_of_part, positions);
    last_text = placed.chosen + (placed.note.empty() ? "" : "; " + placed.note);
    *text = last_text.c_str();
  });
}

int phl_place_parts(int comm, int edges, const int* targets, const int64_t* bytes, int objective,
    int node_color, int* placed) {
  return guarded([&] {
    const PartEdges own{{targets, targets + edges}, {bytes, bytes + edges}};
    *placed = MPI_Comm_c2f(
        place_parts(comm_from_fortran(comm), own, objective_from(objective), node_color));
  });
}

}  // extern "C"
