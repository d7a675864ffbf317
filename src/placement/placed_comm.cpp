#include "parhelion/placement/placed_comm.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/made_comms.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion::placement {

struct PlacedComm::State {
    Placement placement;
    Numbering numbering;
    Scores scores, blocked;
    BetweenNodes between, between_blocked;
    std::string description;
    Communicator parent;  // keeps alive what was made from it
    MPI_Comm comm = MPI_COMM_NULL;
    MadeComms::Use use{};
    int rank = 0;
};

namespace {

struct Plan {
    ProcessGrid grid;
    std::vector<int> positions;
    Scores scores, blocked;
    BetweenNodes between, between_blocked;
    std::string chosen;
};

int dimensions_of(const PlacedOptions& options) {
    if (!options.blocks.empty()) return static_cast<int>(options.blocks.begin()->second.size());
    return static_cast<int>(options.grid.empty() ? options.cells.size() : options.grid.size());
}

Stencil weighed_stencil(const PlacedOptions& options, const ProcessGrid& grid, Stencil stencil) {
    if (options.cells.empty()) return stencil;
    std::vector<std::int64_t> block;
    for (int d = 0; d < grid.dimensions; ++d)
        block.push_back(std::max<std::int64_t>(1, options.cells[d] / grid.extent[d]));
    return with_halo_bytes(std::move(stencil), block, options.halo, options.bytes_per_cell);
}

Plan make_plan(const Machine& machine, const PlacedOptions& options) {
    const int dimensions = dimensions_of(options);
    if (dimensions == 0)
        throw Error(
            "nothing says how many dimensions the process grid has: give grid, cells or blocks");
    if (!options.cells.empty() && options.cells.size() != static_cast<std::size_t>(dimensions))
        throw Error(concat("cells have ", options.cells.size(), " dimensions, the process grid ",
                           dimensions, ": make them agree"));
    Stencil stencil = options.stencil.offsets.empty() ? faces(dimensions) : options.stencil;
    const auto finish = [&](const Placement& placement, std::string chosen) {
        const ProcessGrid& grid = placement.grid();
        std::vector<int> in_order(grid.size());
        std::iota(in_order.begin(), in_order.end(), 0);
        return Plan{grid,
                    placement.positions(),
                    placement.scores(stencil),
                    score(grid, stencil, machine, in_order),
                    between_nodes(placement.node_pairs(stencil)),
                    between_nodes(node_pairs(grid, stencil, nodes_of(machine, in_order))),
                    std::move(chosen)};
    };
    if (!options.blocks.empty()) {
        const auto placement =
            place_by_hand(machine, options.blocks, options.periodic, options.numbering);
        stencil = weighed_stencil(options, placement.grid(), stencil);
        return finish(placement, "by hand");
    }
    ProcessGrid grid;
    if (options.grid.empty()) {
        auto choice = choose_grid(machine, options.cells, stencil, options.halo,
                                  options.bytes_per_cell, options.periodic, options.objective);
        grid = choice.grid, stencil = std::move(choice.stencil);
    } else {
        grid = make_grid(options.grid, options.periodic);
        stencil = weighed_stencil(options, grid, stencil);
    }
    const auto found = place({grid, stencil, options.objective, true, {}, options.costs}, machine);
    return finish(found.placement, found.chosen);
}

template <class T>
void from_first(const Communicator& comm, std::vector<T>& values) {
    Message message;
    message.append(values.data(), values.size());
    values = broadcast(comm, std::move(message)).values<T>();
}

void send_to_all(const Communicator& comm, Plan& plan) {
    std::vector<ProcessGrid> grid{plan.grid};
    std::vector<BetweenNodes> between{plan.between, plan.between_blocked};
    std::vector<char> chosen(plan.chosen.begin(), plan.chosen.end());
    from_first(comm, grid);
    from_first(comm, plan.positions);
    from_first(comm, plan.scores);
    from_first(comm, plan.blocked);
    from_first(comm, between);
    from_first(comm, chosen);
    plan.grid = grid[0];
    plan.between = between[0], plan.between_blocked = between[1];
    plan.chosen.assign(chosen.begin(), chosen.end());
}

template <class List>
void tell_list(Properties& told, const std::string& name, const List& list) {
    told.add("the length of " + name, list.size());
    int i = 0;
    for (const auto& item : list) told.add(name + "[%]", std::int64_t{item}, {i++});
}

void tell_options(Properties& told, const PlacedOptions& options) {
    tell_list(told, "grid", options.grid);
    tell_list(told, "cells", options.cells);
    tell_list(told, "periodic", options.periodic);
    told.add("the number of the stencil's offsets", options.stencil.offsets.size());
    for (const auto& offset : options.stencil.offsets) {
        tell_list(told, "a stencil's offset", offset.step);
        told.add("the bytes of a stencil's offset", offset.bytes);
    }
    told.add("halo", options.halo);
    told.add("bytes_per_cell", options.bytes_per_cell);
    told.add("the number of the objective", static_cast<int>(options.objective));
    told.add("the number of levels with blocks", options.blocks.size());
    for (const auto& [level, blocks] : options.blocks) {
        told.add("a level with blocks", level);
        tell_list(told, "the blocks of " + level, blocks);
    }
    told.add("the numbering", options.numbering);
    told.add("whether there are costs", options.costs ? 1 : 0);
    if (!options.costs) return;
    const auto tell = [&](const std::string& name, double seconds) {
        told.add(name, std::bit_cast<std::int64_t>(seconds));
    };
    tell("the cost of a copied byte", options.costs->copied_byte_s);
    tell("the fixed cost", options.costs->fixed_s);
    for (const auto& [level, cost] : options.costs->levels) {
        told.add("a level with costs", level);
        tell("the cost of a message at " + level, cost.message_s);
        tell("the cost of a byte at " + level, cost.byte_s);
    }
}

std::string in_words(const NodeMessages& found) {
    return concat(found.messages, " messages",
                  (found.bytes < 0 ? "" : concat(" of ", found.bytes, " bytes")),
                  " (of the busiest node ", found.busiest_messages,
                  (found.bytes < 0 ? "" : concat(" of ", found.busiest_bytes)), ")");
}

std::string describe(const Discovered& found, const Plan& plan) {
    std::string text = concat(found.machine.size(), " ranks on ", found.machine.nodes(), " nodes (",
                              found.source, ")");
    if (!found.note.empty()) text += "\nnote: " + found.note;
    const auto& e = plan.grid.extent;
    text += "\nprocess grid " + shown({e.begin(), e.begin() + plan.grid.dimensions}) +
            ", placement: " + plan.chosen;
    for (int l = 0; l < found.machine.levels(); ++l) {
        const auto& now = plan.scores[l];
        const auto& then = plan.blocked[l];
        text += concat("\n  ", found.machine.level(l), ": bytes that leave it ", now.bytes_sum,
                       " (blocked: ", then.bytes_sum, "), from one unit at most ", now.bytes_max,
                       " (blocked: ", then.bytes_max, ")");
    }
    return text + "\nbetween nodes: " + in_words(plan.between.pairwise) +
           "; collected by node: " + in_words(plan.between.aggregated) +
           "; blocked: " + in_words(plan.between_blocked.aggregated);
}

}  // namespace

PlacedComm::PlacedComm(MPI_Comm parent, const PlacedOptions& options) {
    const Communicator comm(parent);
    collectively(comm, "PlacedComm", [&] {
        require_equal(
            comm, "the options of the placement",
            [&](Properties& told) { tell_options(told, options); },
            "pass equal ones on every rank");
        Discovered found = discover(comm, options.node_color);
        Plan plan;
        Numbering numbering(1);
        validate_together(comm, [&] {
            if (comm.rank() == 0) plan = make_plan(found.machine, options);
            const int dimensions = dimensions_of(options);
            numbering = options.numbering.empty() ? Numbering(dimensions)
                                                  : Numbering::parse(options.numbering, dimensions);
        });
        send_to_all(comm, plan);
        auto state = std::make_shared<State>(
            State{Placement(plan.grid, found.machine, plan.positions), numbering, plan.scores,
                  plan.blocked, plan.between, plan.between_blocked,
                  placement::describe(found, plan), comm});
        state->rank = numbering.rank(plan.grid.extent, state->placement.point(found.position));
        auto& made = comm.shared_state<MadeComms>();
        made.free_dropped(comm);
        state->comm = split(comm, comm.handle(), 0, state->rank);
        state->use = made.add(state->comm);
        // The duplicate that was split returns errors; restore the user's error handler.
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
const Scores& PlacedComm::scores() const { return state_->scores; }
const Scores& PlacedComm::scores_blocked() const { return state_->blocked; }
const BetweenNodes& PlacedComm::between_nodes() const { return state_->between; }
const BetweenNodes& PlacedComm::between_nodes_blocked() const { return state_->between_blocked; }
std::string PlacedComm::describe() const { return state_->description; }

std::vector<int> PlacedComm::grid() const {
    const auto& grid = state_->placement.grid();
    return {grid.extent.begin(), grid.extent.begin() + grid.dimensions};
}

std::vector<int> PlacedComm::coords_of(int rank) const {
    const auto& grid = state_->placement.grid();
    const Coords point = state_->numbering.coords(grid.extent, rank);
    return {point.begin(), point.begin() + grid.dimensions};
}

int PlacedComm::rank_of(const std::vector<int>& coords) const {
    const auto& grid = state_->placement.grid();
    if (coords.size() != static_cast<std::size_t>(grid.dimensions))
        throw Error(concat(coords.size(), " coordinates are given for a process grid of ",
                           grid.dimensions, " dimensions"));
    Coords step{};
    std::copy(coords.begin(), coords.end(), step.begin());
    int index = 0;
    if (!neighbor(grid, Coords{}, step, index)) return MPI_PROC_NULL;
    return state_->numbering.rank(grid.extent, point_of(grid.extent, index));
}

MPI_Comm PlacedComm::to_cart() const {
    require_mpi_not_ended();
    return collectively(state_->parent, "PlacedComm::to_cart", [&] {
        const auto& grid = state_->placement.grid();
        const Coords own = state_->numbering.coords(grid.extent, rank());
        std::vector<int> extents = this->grid(),
                         wraps(grid.periodic.begin(), grid.periodic.begin() + grid.dimensions);
        MPI_Comm cart = MPI_COMM_NULL;
        MPI_Comm ordered = split(state_->parent, comm(), 0, index_of(grid.extent, own));
        check_mpi(MPI_Cart_create(ordered, grid.dimensions, extents.data(), wraps.data(), 0, &cart),
                  "MPI_Cart_create");
        MPI_Comm_free(&ordered);
        return cart;
    });
}

MPI_Comm PlacedComm::sub(const std::vector<bool>& remain) const {
    require_mpi_not_ended();
    return collectively(state_->parent, "PlacedComm::sub", [&] {
        const auto& grid = state_->placement.grid();
        if (remain.size() != static_cast<std::size_t>(grid.dimensions))
            throw Error(concat(remain.size(), " dimensions are named for a process grid of ",
                               grid.dimensions, ": say for each whether it remains"));
        Coords fixed = state_->numbering.coords(grid.extent, rank());
        for (std::size_t d = 0; d < remain.size(); ++d)
            if (remain[d]) fixed[d] = 0;
        return split(state_->parent, comm(), state_->numbering.rank(grid.extent, fixed), rank());
    });
}

}  // namespace parhelion::placement
