#include "parhelion/placement/placement.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"

namespace parhelion::placement {
namespace {

// The partner of `key` in a sorted list of pairs, or `otherwise`.
int find(const std::vector<std::pair<int, int>>& pairs, int key, int otherwise) {
    const auto found = std::ranges::lower_bound(pairs, key, {}, &std::pair<int, int>::first);
    return found != pairs.end() && found->first == key ? found->second : otherwise;
}

}  // namespace

Placement::Placement(ProcessGrid grid, Machine machine, Order order, Moves moves)
    : grid_(grid), machine_(std::move(machine)), order_(std::move(order)), moves_(std::move(moves)) {
    if (grid_.size() != machine_.size())
        throw Error("the process grid has " + std::to_string(grid_.size()) + " points but the machine " + std::to_string(machine_.size()) +
                    " ranks: make the product of the grid's extents equal to the ranks");
    if (order_.box() != grid_.extent) throw Error("the order belongs to another process grid");
}

int Placement::position(const Coords& point) const {
    if (!moves_.position_of_point.empty()) {
        const int index = Numbering(max_dimensions).rank(grid_.extent, point);
        if (const int moved = find(moves_.position_of_point, index, -1); moved >= 0) return moved;
    }
    return order_.position(point);
}

Coords Placement::point(int position) const {
    if (const int moved = find(moves_.point_of_position, position, -1); moved >= 0)
        return Numbering(max_dimensions).coords(grid_.extent, moved);
    return order_.point(position);
}

Scores Placement::scores(const Stencil& stencil) const {
    check_bytes(grid_, stencil);
    return score(grid_, stencil, machine_, [this](const Coords& point) { return position(point); });
}

std::vector<NodePair> Placement::node_pairs(const Stencil& stencil) const {
    return placement::node_pairs(grid_, stencil, nodes_of_points(grid_, machine_, [this](const Coords& point) { return position(point); }));
}

std::vector<std::int32_t> Placement::pack() const {
    const auto order = order_.pack();
    std::vector<std::int32_t> words{static_cast<std::int32_t>(order.size())};
    words.insert(words.end(), order.begin(), order.end());
    for (const auto& [point, position] : moves_.position_of_point) words.insert(words.end(), {point, position});
    return words;
}

Placement Placement::unpack(ProcessGrid grid, Machine machine, const std::vector<std::int32_t>& words) {
    const auto order_end = words.empty() ? 0 : static_cast<std::size_t>(words.front()) + 1;
    if (order_end == 0 || order_end > words.size()) throw Error("a packed placement was cut off on its way");
    Moves moves;
    for (std::size_t i = order_end; i + 1 < words.size(); i += 2) {
        moves.position_of_point.emplace_back(words[i], words[i + 1]);
        moves.point_of_position.emplace_back(words[i + 1], words[i]);
    }
    std::ranges::sort(moves.point_of_position);
    return {grid, std::move(machine), Order::unpack(std::span(words).subspan(1, order_end - 1)), std::move(moves)};
}

}  // namespace parhelion::placement
