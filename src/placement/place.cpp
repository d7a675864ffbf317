#include <algorithm>

#include "parhelion/core/error.hpp"
#include "placement/methods/methods.hpp"
#include "refine.hpp"

namespace parhelion::placement {
namespace {

struct Candidate {
    Member member;
    std::optional<Order> order;
};

double seconds_of(const Problem& problem, const Request& request, const Scores& scores, const PositionOf& position) {
    return request.costs ? predicted_seconds(problem.grid, problem.stencil, problem.machine, scores, position, *request.costs) : 0;
}

Candidate attempt(const Problem& problem, const Request& request, const Method& method) {
    Attempt made = method.arrange(problem);
    Candidate candidate{{method.name, {}, made.reason}, std::move(made.order)};
    if (!candidate.order) return candidate;
    const PositionOf position = [&](const Coords& point) { return candidate.order->position(point); };
    candidate.member.scores = score(problem.grid, problem.stencil, problem.machine, position);
    candidate.member.seconds = seconds_of(problem, request, candidate.member.scores, position);
    return candidate;
}

// What is made small: time, where it is predicted, then what the objective says.
std::pair<double, std::vector<std::int64_t>> key(double seconds, const Scores& scores, Objective objective) {
    return {seconds, objective_key(scores, objective)};
}

std::vector<int> positions_of(const ProcessGrid& grid, const Order& order) {
    const Numbering numbering(max_dimensions);
    std::vector<int> positions(static_cast<std::size_t>(grid.size()));
    for (int p = 0; p < grid.size(); ++p) positions[static_cast<std::size_t>(p)] = order.position(numbering.coords(grid.extent, p));
    return positions;
}

Placement::Moves moves_between(const std::vector<int>& before, const std::vector<int>& after) {
    Placement::Moves moves;
    for (std::size_t p = 0; p < before.size(); ++p) {
        if (before[p] == after[p]) continue;
        moves.position_of_point.emplace_back(static_cast<int>(p), after[p]);
        moves.point_of_position.emplace_back(after[p], static_cast<int>(p));
    }
    std::ranges::sort(moves.point_of_position);
    return moves;
}

Placement refined(const Problem& problem, const Neighborhood& neighborhood, Objective objective, const Order& order) {
    const auto before = positions_of(problem.grid, order);
    auto after = before;
    refine(problem.machine, neighborhood, objective, after);
    return Placement(problem.grid, problem.machine, order, moves_between(before, after));
}

// The applicable candidates, best first; of equals the earlier in the portfolio.
std::vector<const Candidate*> ranking(const std::vector<Candidate>& candidates, Objective objective) {
    std::vector<const Candidate*> best;
    for (const auto& candidate : candidates)
        if (candidate.order) best.push_back(&candidate);
    std::ranges::stable_sort(best, {}, [&](const Candidate* c) { return key(c->member.seconds, c->member.scores, objective); });
    return best;
}

// The first so many that differ in their scores: equal ones are most likely the same placement.
std::vector<const Candidate*> different_starts(const std::vector<const Candidate*>& best, std::size_t most) {
    std::vector<const Candidate*> starts;
    for (const Candidate* candidate : best)
        if (starts.size() < most && (starts.empty() || starts.back()->member.scores != candidate->member.scores))
            starts.push_back(candidate);
    return starts;
}

}  // namespace

std::vector<std::int64_t> objective_key(const Scores& scores, Objective objective) {
    std::vector<std::int64_t> key;
    for (const auto& level : scores) {
        key.push_back(objective == Objective::jsum ? level.bytes_sum : level.bytes_max);
        key.push_back(objective == Objective::jsum ? level.bytes_max : level.bytes_sum);
    }
    return key;
}

namespace {

// One method by name, as it is.
AutomaticPlacement place_with(const Problem& problem, const Request& request) {
    const std::string& name = request.method;
    std::string names;
    for (const auto& method : portfolio) {
        names += (names.empty() ? "" : ", ") + std::string(method.name);
        if (name != method.name) continue;
        Candidate made = attempt(problem, request, method);
        if (!made.order) throw Error("the method " + name + " does not apply: " + made.member.reason);
        return {Placement(problem.grid, problem.machine, *made.order), made.member.scores, name, {made.member}, "", made.member.seconds};
    }
    throw Error("the method '" + name + "' is unknown: choose from " + names);
}

}  // namespace

AutomaticPlacement place(const Request& request, const Machine& machine) {
    if (request.grid.size() != machine.size())
        throw Error("the process grid has " + std::to_string(request.grid.size()) + " points but the machine " +
                    std::to_string(machine.size()) + " ranks: make the product of the grid's extents equal to the ranks");
    const Problem problem(request.grid, request.stencil, machine);
    if (!request.method.empty()) return place_with(problem, request);
    std::vector<Candidate> candidates;
    for (const auto& method : portfolio) candidates.push_back(attempt(problem, request, method));
    const auto best = ranking(candidates, request.objective);
    AutomaticPlacement result{Placement(request.grid, machine, *best.front()->order),
                              best.front()->member.scores,
                              best.front()->member.name,
                              {},
                              "",
                              best.front()->member.seconds};
    for (const auto& candidate : candidates) result.members.push_back(candidate.member);
    if (!request.refine) return result;
    if (request.grid.size() > refined_points) {
        result.note = "not refined: local search would hold the whole map of " + std::to_string(request.grid.size()) + " points";
        return result;
    }
    const Neighborhood neighborhood(problem);
    const auto objectives = request.costs ? std::vector{Objective::jsum, Objective::jmax} : std::vector{request.objective};
    for (const Candidate* start : different_starts(best, 3))
        for (const Objective objective : objectives) {
            Placement now = refined(problem, neighborhood, objective, *start->order);
            Scores scores = now.scores(request.stencil);
            const double seconds = seconds_of(problem, request, scores, [&](const Coords& point) { return now.position(point); });
            if (key(seconds, scores, request.objective) >= key(result.seconds, result.scores, request.objective)) continue;
            result.placement = std::move(now);
            result.scores = std::move(scores);
            result.seconds = seconds;
            result.chosen = start->member.name + " + refined";
        }
    return result;
}

}  // namespace parhelion::placement
