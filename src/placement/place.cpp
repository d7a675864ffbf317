#include <algorithm>
#include <numeric>

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"
#include "placement/methods/methods.hpp"
#include "refine.hpp"

namespace parhelion::placement {
namespace {

constexpr std::size_t most_starts = 3;  // of local search

struct Method {
    const char* name;
    Attempt (*arrange)(const Problem&);
};

Attempt blocked(const Problem& problem) {
    Order order(problem.grid.size());
    std::iota(order.begin(), order.end(), 0);
    return {std::move(order), ""};
}

// The first wins ties.
constexpr Method methods[] = {
    {"blocked", blocked},
    {"kd_tree", kd_tree},
    {"stencil_strips", stencil_strips},
    {"recursive_bisection", recursive_bisection},
    {"guillotine", guillotine},
};

struct Candidate {
    Member member;
    Order positions;
};

void assess(const Problem& problem, const Request& request, Candidate& candidate) {
    Member& member = candidate.member;
    member.scores = score(problem, candidate.positions);
    if (request.costs)
        member.seconds = predicted_seconds(problem.grid, problem.stencil, problem.machine,
                                           member.scores, candidate.positions, *request.costs);
}

std::vector<Candidate> candidates_of(const Problem& problem, const Request& request) {
    std::vector<Candidate> candidates;
    std::string names;
    for (const auto& [name, arrange] : methods) {
        names += (names.empty() ? "" : ", ") + std::string(name);
        if (!request.method.empty() && request.method != name) continue;
        Attempt made = arrange(problem);
        if (made.order.empty() && !request.method.empty())
            throw Error("the method " + request.method + " does not apply: " + made.reason);
        candidates.push_back({{name, {}, made.reason}, std::move(made.order)});
        if (candidates.back().member.applies()) assess(problem, request, candidates.back());
    }
    if (candidates.empty())
        throw Error("the method '" + request.method + "' is unknown: choose from " + names);
    return candidates;
}

// Quantity to minimize: predicted time, if any, then the objective.
std::pair<double, std::vector<std::int64_t>> key(const Candidate& candidate, Objective objective) {
    return {candidate.member.seconds, objective_key(candidate.member.scores, objective)};
}

// Best first; the earlier method wins ties.
std::vector<const Candidate*> ranking(const std::vector<Candidate>& candidates,
                                      Objective objective) {
    std::vector<const Candidate*> best;
    for (const auto& candidate : candidates)
        if (candidate.member.applies()) best.push_back(&candidate);
    std::ranges::stable_sort(best, {},
                             [&](const Candidate* each) { return key(*each, objective); });
    return best;
}

// Local search from the best candidates with distinct scores: equal scores most likely mean equal
// placements.
Candidate refined(const Problem& problem, const Request& request,
                  const std::vector<const Candidate*>& ranked, int& moved) {
    const Neighborhood neighborhood(problem.grid, problem.stencil);
    const auto objectives = request.costs ? std::vector{Objective::jsum, Objective::jmax}
                                          : std::vector{request.objective};
    Candidate best = *ranked.front();
    std::vector<const Candidate*> starts;
    for (const Candidate* start : ranked) {
        if (starts.size() == most_starts) break;
        if (!starts.empty() && starts.back()->member.scores == start->member.scores) continue;
        starts.push_back(start);
        for (const Objective objective : objectives) {
            Candidate now = *start;
            refine(problem.machine, neighborhood, objective, now.positions);
            assess(problem, request, now);
            if (key(now, request.objective) >= key(best, request.objective)) continue;
            now.member.name += " + refined";
            moved = 0;
            for (std::size_t p = 0; p < now.positions.size(); ++p)
                moved += now.positions[p] != start->positions[p];
            best = std::move(now);
        }
    }
    return best;
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

AutomaticPlacement place(const Request& request, const Machine& machine) {
    check_ranks(request.grid, machine);
    const Problem problem(request.grid, request.stencil, machine);
    const auto candidates = candidates_of(problem, request);
    const auto ranked = ranking(candidates, request.objective);
    Candidate best = *ranked.front();
    std::string note;
    int moved = 0;
    if (request.refine && request.method.empty()) {
        if (request.grid.size() <= refined_points) best = refined(problem, request, ranked, moved);
        else
            note = concat("not refined: local search would take too long for ", request.grid.size(),
                          " points");
    }
    std::vector<Member> members;
    for (const auto& candidate : candidates) members.push_back(candidate.member);
    auto& [name, scores, reason, seconds] = best.member;
    return {Placement(request.grid, machine, std::move(best.positions), moved),
            scores,
            name,
            std::move(members),
            note,
            seconds};
}

}  // namespace parhelion::placement
