#include "parhelion/placement/placed_comm.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/made_comms.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/placement/graph.hpp"

namespace parhelion::placement {

// Decided by rank 0, known to every rank.
struct PlacedPlan {
  ProcessGrid grid;
  std::vector<int> positions;
  Scores scores, blocked;
  BetweenNodes between, between_blocked;
  std::string chosen;
};

struct PlacedComm::State {
  PlacedPlan plan;
  Placement placement;
  Numbering numbering;
  std::string description;
  Communicator parent;  // keeps alive what was made from it
  MPI_Comm comm = MPI_COMM_NULL;
  MadeComms::Use use{};
  int rank = 0;
};

namespace {

int dimensions_of(const PlacedOptions& options) {
  if (!options.blocks.empty()) return static_cast<int>(options.blocks.begin()->second.size());
  return static_cast<int>(options.grid.empty() ? options.cells.size() : options.grid.size());
}

PlacedPlan make_plan(const Machine& machine, const PlacedOptions& options) {
  const int dimensions = dimensions_of(options);
  if (dimensions == 0)
    refuse("the number of dimensions of the process grid is unknown: give grid, cells or blocks");
  if (!options.cells.empty() && options.cells.size() != static_cast<std::size_t>(dimensions))
    refuse("cells have ", options.cells.size(), " dimensions, the process grid ", dimensions,
        ": make them agree");
  Stencil stencil = options.stencil.offsets.empty() ? faces(dimensions) : options.stencil;
  const auto weigh = [&](const ProcessGrid& grid) {
    if (options.cells.empty()) return;
    std::vector<std::int64_t> block;
    for (int d = 0; d < grid.dimensions; ++d)
      block.push_back(std::max<std::int64_t>(1, options.cells[d] / grid.extent[d]));
    stencil = with_halo_bytes(std::move(stencil), block, options.halo, options.bytes_per_cell);
  };
  const auto finish = [&](const Placement& placement, std::string chosen) -> PlacedPlan {
    const ProcessGrid& grid = placement.grid();
    std::vector<int> in_order(grid.size());
    std::iota(in_order.begin(), in_order.end(), 0);
    return {grid, placement.positions(), placement.scores(stencil),
        score(grid, stencil, machine, in_order), between_nodes(placement.node_pairs(stencil)),
        between_nodes(node_pairs(grid, stencil, nodes_of(machine, in_order))), std::move(chosen)};
  };
  if (!options.blocks.empty()) {
    const auto placement =
        place_by_hand(machine, options.blocks, options.periodic, options.numbering);
    weigh(placement.grid());
    return finish(placement, "by hand");
  }
  ProcessGrid grid;
  if (options.grid.empty()) {
    auto choice = choose_grid(machine, options.cells, stencil, options.halo, options.bytes_per_cell,
        options.periodic, options.objective);
    grid = choice.grid, stencil = std::move(choice.stencil);
  } else {
    grid = make_grid(options.grid, options.periodic);
    weigh(grid);
  }
  const auto found = place({grid, stencil, options.objective, true, {}, options.costs}, machine);
  return finish(found.placement, found.chosen);
}

void tell_options(Properties& told, const PlacedOptions& options) {
  const auto listed = [](const auto& numbers) {
    std::string text;
    for (const auto number : numbers) text += concat(text.empty() ? "" : ", ", number);
    return text;
  };
  const auto bits = [](double number) { return std::bit_cast<std::int64_t>(number); };
  std::string offsets, blocks, costs;
  for (const auto& offset : options.stencil.offsets)
    offsets += concat(listed(offset.step), " with ", offset.bytes, " bytes; ");
  for (const auto& [level, extents] : options.blocks)
    blocks += concat(level, " ", listed(extents), "; ");
  if (options.costs) {
    costs = concat(bits(options.costs->copied_byte_s), " ", bits(options.costs->fixed_s), "; ");
    for (const auto& [level, cost] : options.costs->levels)
      costs += concat(level, " ", bits(cost.message_s), " ", bits(cost.byte_s), "; ");
  }
  told.add("grid", listed(options.grid));
  told.add("cells", listed(options.cells));
  told.add("periodic", listed(options.periodic));
  told.add("the stencil", offsets);
  told.add("halo", options.halo);
  told.add("bytes_per_cell", options.bytes_per_cell);
  told.add("the number of the objective", static_cast<int>(options.objective));
  told.add("the blocks", blocks);
  told.add("the numbering", options.numbering);
  told.add("the costs, as bits", costs);
}

std::string in_words(const NodeMessages& found) {
  return concat(found.messages, " messages",
      (found.bytes < 0 ? "" : concat(" of ", found.bytes, " bytes")), " (of the busiest node ",
      found.busiest_messages, (found.bytes < 0 ? "" : concat(" of ", found.busiest_bytes)), ")");
}

std::string describe(const Discovered& found, const PlacedPlan& plan) {
  const auto& [machine, position, source, note] = found;
  std::string text = concat(machine.size(), " ranks on ", machine.nodes(), " nodes (", source, ")",
      note.empty() ? "" : "\nnote: ", note, "\nprocess grid ", shown(plan.grid.extents()),
      ", placement: ", plan.chosen);
  for (int l = 0; l < machine.levels(); ++l) {
    const auto &now = plan.scores[l], &then = plan.blocked[l];
    text += concat("\n  ", machine.level_names()[l], ": bytes that leave it ", now.bytes_sum,
        " (blocked: ", then.bytes_sum, "), from one unit at most ", now.bytes_max,
        " (blocked: ", then.bytes_max, ")");
  }
  return text + "\nbetween nodes: " + in_words(plan.between.pairwise) +
         "; combined by node: " + in_words(plan.between.aggregated) +
         "; blocked: " + in_words(plan.between_blocked.aggregated);
}

}  // namespace

PlacedComm::PlacedComm(MPI_Comm parent, const PlacedOptions& options) {
  const Communicator comm(parent);
  collectively(comm, "PlacedComm", [&] {
    require_equal(
        comm, "the options of the placement",
        [&](Properties& told) { tell_options(told, options); }, "pass equal ones on every rank");
    Discovered found = discover(comm, options.node_color);
    PlacedPlan plan;
    Numbering numbering(1);
    validate_together(comm, [&] {
      if (comm.rank() == 0) plan = make_plan(found.machine, options);
      numbering = Numbering::parse(options.numbering, dimensions_of(options));
    });
    plan.grid = from_first(comm, std::vector{plan.grid}).front();
    plan.scores = from_first(comm, plan.scores);
    plan.blocked = from_first(comm, plan.blocked);
    plan.between = from_first(comm, std::vector{plan.between}).front();
    plan.between_blocked = from_first(comm, std::vector{plan.between_blocked}).front();
    plan.chosen = from_first(comm, plan.chosen);
    Placement placement(plan.grid, found.machine, from_first(comm, plan.positions));
    plan.positions = {};  // the placement has them
    auto state = std::make_shared<State>(
        State{plan, std::move(placement), numbering, placement::describe(found, plan), comm});
    state->rank = numbering.rank(plan.grid.extent, state->placement.point(found.position));
    auto& made = comm.shared_state<MadeComms>();
    made.free_dropped(comm);
    state->comm = split(comm, comm.handle(), 0, state->rank);
    state->use = made.add(state->comm);
    // The split duplicate returns errors; restore the user's error handler.
    MPI_Errhandler handler;
    check_mpi(MPI_Comm_get_errhandler(parent, &handler), "MPI_Comm_get_errhandler");
    check_mpi(MPI_Comm_set_errhandler(state->comm, handler), "MPI_Comm_set_errhandler");
    MPI_Errhandler_free(&handler);
    state_ = std::move(state);
  });
}

MPI_Comm PlacedComm::comm() const { return state_->comm; }
int PlacedComm::rank() const { return state_->rank; }
int PlacedComm::size() const { return state_->placement.machine().size(); }
const Placement& PlacedComm::placement() const { return state_->placement; }
const Scores& PlacedComm::scores() const { return state_->plan.scores; }
const Scores& PlacedComm::scores_blocked() const { return state_->plan.blocked; }
const BetweenNodes& PlacedComm::between_nodes() const { return state_->plan.between; }
const BetweenNodes& PlacedComm::between_nodes_blocked() const {
  return state_->plan.between_blocked;
}
std::string PlacedComm::describe() const { return state_->description; }

std::vector<int> PlacedComm::grid() const { return state_->plan.grid.extents(); }

std::vector<int> PlacedComm::coords_of(int rank) const {
  const auto& grid = state_->plan.grid;
  const Coords point = state_->numbering.coords(grid.extent, rank);
  return {point.begin(), point.begin() + grid.dimensions};
}

int PlacedComm::rank_of(const std::vector<int>& coords) const {
  const auto& grid = state_->plan.grid;
  if (coords.size() != static_cast<std::size_t>(grid.dimensions))
    refuse(coords.size(), " coordinates are given for a process grid of ", grid.dimensions,
        " dimensions");
  Coords step{};
  std::ranges::copy(coords, step.begin());
  int index = 0;
  if (!neighbor(grid, Coords{}, step, index)) return MPI_PROC_NULL;
  return state_->numbering.rank(grid.extent, point_of(grid.extent, index));
}

MPI_Comm PlacedComm::to_cart() const {
  require_mpi_not_ended();
  return collectively(state_->parent, "PlacedComm::to_cart", [&] {
    const auto& grid = state_->plan.grid;
    const Coords own = state_->numbering.coords(grid.extent, rank());
    const auto extents = grid.extents();
    const std::vector<int> wraps(grid.periodic.begin(), grid.periodic.end());
    const int place = index_of(grid.extent, own), dimensions = grid.dimensions;
    return create_comm(state_->parent, [=, from = comm()] {
      MPI_Comm cart = MPI_COMM_NULL, ordered = MPI_COMM_NULL;
      check_mpi(MPI_Comm_split(from, 0, place, &ordered), "MPI_Comm_split");
      check_mpi(MPI_Cart_create(ordered, dimensions, extents.data(), wraps.data(), 0, &cart),
          "MPI_Cart_create");
      MPI_Comm_free(&ordered);
      return cart;
    });
  });
}

MPI_Comm PlacedComm::sub(const std::vector<bool>& remain) const {
  require_mpi_not_ended();
  return collectively(state_->parent, "PlacedComm::sub", [&] {
    const auto& grid = state_->plan.grid;
    if (remain.size() != static_cast<std::size_t>(grid.dimensions))
      refuse(remain.size(), " dimensions are named for a process grid of ", grid.dimensions,
          ": say for each whether it remains");
    Coords fixed = state_->numbering.coords(grid.extent, rank());
    for (std::size_t d = 0; d < remain.size(); ++d)
      if (remain[d]) fixed[d] = 0;
    return split(state_->parent, comm(), state_->numbering.rank(grid.extent, fixed), rank());
  });
}

MPI_Comm place_parts(MPI_Comm parent, const PartEdges& own, Objective objective, int node_color) {
  const Communicator comm(parent);
  return collectively(comm, "place_parts", [&]() -> MPI_Comm {
    validate_together(comm, [&] {
      if (own.part.size() != own.bytes.size())
        refuse(own.part.size(), " neighbors with ", own.bytes.size(),
            " byte counts: give one for each");
    });
    const Discovered found = discover(comm, node_color);
    const auto parts = gather(comm, message_of(own.part)),
               bytes = gather(comm, message_of(own.bytes));
    std::vector<int> positions;
    validate_together(comm, [&] {
      if (comm.rank() != 0) return;
      std::vector<PartEdges> graph;
      for (std::size_t r = 0; r < parts.size(); ++r)
        graph.push_back({parts[r].values<int>(), bytes[r].values<std::int64_t>()});
      positions = place_graph(found.machine, graph, objective).position_of_part;
    });
    positions = from_first(comm, positions);
    const auto part = std::ranges::find(positions, found.position) - positions.begin();
    return split(comm, comm.handle(), 0, static_cast<int>(part));
  });
}

}  // namespace parhelion::placement
