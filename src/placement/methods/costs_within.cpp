#include <algorithm>

#include "methods.hpp"
#include "parhelion/placement/score.hpp"

namespace parhelion::placement {
namespace {

// Boundaries of all levels inside a kind, appended with an offset.
void append_boundaries(const UnitKinds& kinds, int kind, int offset, std::size_t depth, std::vector<std::vector<int>>& starts) {
    if (depth == starts.size()) return;
    const auto& unit = kinds[kind];
    for (int p = 0; p < unit.count(); ++p) {
        const int first = offset + unit.starts[static_cast<std::size_t>(p)];
        starts[depth].push_back(first);
        append_boundaries(kinds, unit.parts[static_cast<std::size_t>(p)], first, depth + 1, starts);
    }
}

// The parts of the share, seen as the nodes of a machine of their own, with at most so many levels.
Machine machine_of(const Problem& problem, const Share& share, int most_levels) {
    const int outermost = problem.kinds[share.kind].level + 1;
    const int levels = std::min(problem.kinds.levels() - outermost, most_levels);
    const auto name = problem.machine.level_names().begin() + outermost;
    std::vector<NodeShape> shapes;
    std::vector<int> shape_of_kind(static_cast<std::size_t>(problem.kinds.whole() + 1), -1), shape_of_part;
    for (int p = share.first; p < share.first + share.count; ++p) {
        const int kind = problem.kinds[share.kind].parts[static_cast<std::size_t>(p)];
        int& known = shape_of_kind[static_cast<std::size_t>(kind)];
        if (known < 0) {
            known = static_cast<int>(shapes.size());
            shapes.push_back({problem.kinds[kind].ranks, std::vector<std::vector<int>>(static_cast<std::size_t>(levels - 1))});
            append_boundaries(problem.kinds, kind, 0, 0, shapes.back().starts);
            for (auto& starts : shapes.back().starts) starts.push_back(shapes.back().ranks);
        }
        shape_of_part.push_back(known);
    }
    return Machine({name, name + levels}, std::move(shapes), std::move(shape_of_part));
}

Scores scores_within(const Problem& problem, const Coords& box, const Share& share, const Order& order, int most_levels) {
    ProcessGrid grid = problem.grid;
    grid.extent = box;
    for (int d = 0; d < max_dimensions; ++d) grid.periodic[d] = problem.wraps(box, d);
    return score(grid, problem.stencil, machine_of(problem, share, most_levels),
                 [&](const Coords& point) { return order.position(point); });
}

}  // namespace

std::int64_t outermost_cost(const Problem& problem, const Coords& box, const Share& share, const Order& order) {
    return scores_within(problem, box, share, order, 1).front().bytes_sum;
}

Costs costs_within(const Problem& problem, const Coords& box, const Share& share, const Order& order) {
    Costs costs{};
    auto level = static_cast<std::size_t>(problem.kinds[share.kind].level + 1);
    std::int64_t outside = 0;
    for (const auto& s : scores_within(problem, box, share, order, max_levels)) {
        costs[level++] = s.bytes_sum - outside;
        outside = s.bytes_sum;
    }
    return costs;
}

}  // namespace parhelion::placement
