// The portfolio: methods by name, each turns a problem into an order of the grid's points; and what they share.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "placement/exchange_state.hpp"
#include "placement/problem.hpp"

namespace parhelion::placement {

inline constexpr int max_levels = 10;

/// Bytes that cross between units of each level but stay inside the level around it, outermost level first.
using Costs = std::array<std::int64_t, max_levels>;

__extension__ using Weighed = __int128;  ///< 4^max_levels times what 64 bits hold

/// What a method makes small: a byte that leaves a level counts four times one that only leaves the level inside it,
/// so that a method does not spoil the inside of a node for a hair's breadth less between nodes.
inline Weighed weighed(const Costs& costs) {
    Weighed total = 0;
    for (const auto cost : costs) total = 4 * total + cost;
    return total;
}

/// An order and what it costs inside its box.
struct Arrangement {
    Costs costs{};
    std::optional<Order> order;
};

/// The path through a box whose slowest dimension is the one where a cut costs least per point.
Order plain_path(const Problem& problem, const Coords& box);

/// Costs of an order of `box` whose positions are dealt to the parts of `share`.
Costs costs_within(const Problem& problem, const Coords& box, const Share& share, const Order& order);

/// The outermost of them: what crosses between the parts of `share`.
std::int64_t outermost_cost(const Problem& problem, const Coords& box, const Share& share, const Order& order);

/// The best strips through `box` for the parts of `share`; looks at fewer widths the larger the box.
Arrangement best_strips(const Problem& problem, const Coords& box, const Share& share);

/// A method's answer: an order, or why it has none.
struct Attempt {
    std::optional<Order> order;
    std::string reason;
};

Attempt blocked(const Problem& problem);
Attempt divisor_blocks(const Problem& problem);
Attempt hyperplane(const Problem& problem);
Attempt kd_tree(const Problem& problem);
Attempt stencil_strips(const Problem& problem);
Attempt recursive_bisection(const Problem& problem);
Attempt guillotine(const Problem& problem);

struct Method {
    const char* name;
    Attempt (*arrange)(const Problem&);
};

/// All of them; of equals the first is chosen.
inline constexpr Method portfolio[] = {
    {"blocked", blocked},       {"divisor_blocks", divisor_blocks}, {"hyperplane", hyperplane},
    {"kd_tree", kd_tree},       {"stencil_strips", stencil_strips}, {"recursive_bisection", recursive_bisection},
    {"guillotine", guillotine},
};

/// The part of every vertex when the graph is cut into `parts` parts of about equal size; nothing when METIS is not
/// there or fails. `why` then says so.
std::optional<std::vector<int>> cut_with_metis(const Neighborhood& graph, const std::vector<int>& vertices, int parts, std::string& why);

}  // namespace parhelion::placement
