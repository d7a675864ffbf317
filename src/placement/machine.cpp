#include "parhelion/placement/machine.hpp"

#include <algorithm>

#include "parhelion/core/checked.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

void check_shape(const NodeShape& shape, std::size_t inner_levels) {
    if (shape.ranks < 1) throw Error("a node has no rank: leave it out of the machine");
    if (shape.starts.size() != inner_levels)
        throw Error("a node has " + std::to_string(shape.starts.size()) + " inner levels where others have " +
                    std::to_string(inner_levels) + ": describe every node with the same levels");
    const std::vector<int>* outer = nullptr;
    for (const auto& starts : shape.starts) {
        if (starts.size() < 2 || starts.front() != 0 || starts.back() != shape.ranks || !std::ranges::is_sorted(starts))
            throw Error("the units of a level do not cover the " + std::to_string(shape.ranks) + " ranks of their node");
        for (const int boundary : outer ? *outer : std::vector<int>{})
            if (!std::ranges::binary_search(starts, boundary))
                throw Error("a unit straddles two units of the level around it: order the levels from the outermost in");
        outer = &starts;
    }
}

// Counts of ranks and units are int from here on, and arrays have an entry for each.
int within(std::int64_t count, int most, const std::string& what) {
    if (count > most)
        throw Error("the machine has " + std::to_string(count) + " " + what + ", placement takes at most " + std::to_string(most) +
                    ": describe a smaller machine");
    return static_cast<int>(count);
}

// Before anything as long as the machine is made.
void check_size(const Topology& topology) {
    std::int64_t units = 1;
    for (const auto& level : topology.levels) {
        units = checked_product({units, level.count}, "the number of units of the machine");
        within(units, &level == &topology.levels.front() ? most_nodes : most_units, "units of level " + level.name);
    }
}

// Boundaries inside a part with n ranks from `first` on, dealt to k children. Rounding up gives rank 0 to child 0.
std::vector<int> deal_evenly(int first, int n, int k) {
    std::vector<int> starts;
    for (int child = 0; child < k; ++child) starts.push_back(first + static_cast<int>((static_cast<std::int64_t>(child) * n + k - 1) / k));
    return starts;
}

std::vector<int> deal_in_order(int first, int n, int k, int capacity) {
    std::vector<int> starts;
    for (int child = 0; child < k; ++child) starts.push_back(first + std::min(n, child * capacity));
    return starts;
}

NodeShape deal(const Topology& topology, int ranks, Binding binding) {
    NodeShape shape{ranks, {}};
    std::vector<int> outer{0, ranks};
    int slots = 1;
    for (std::size_t l = 1; l < topology.levels.size(); ++l) slots *= topology.levels[l].count;
    // More ranks than slots can only be dealt evenly: every slot then holds several.
    const bool even = binding == Binding::spread || ranks > slots;
    for (std::size_t l = 1; l < topology.levels.size(); ++l) {
        const int k = topology.levels[l].count;
        slots /= k;
        std::vector<int> starts;
        for (std::size_t u = 0; u + 1 < outer.size(); ++u) {
            const int n = outer[u + 1] - outer[u];
            const auto part = even ? deal_evenly(outer[u], n, k) : deal_in_order(outer[u], n, k, slots);
            starts.insert(starts.end(), part.begin(), part.end());
        }
        starts.push_back(ranks);
        shape.starts.push_back(starts);
        outer = shape.starts.back();
    }
    return shape;
}

int unit_at(const std::vector<int>& starts, int rank) {
    return static_cast<int>(std::ranges::upper_bound(starts, rank) - starts.begin()) - 1;
}

}  // namespace

Machine::Machine(std::vector<std::string> levels, std::vector<NodeShape> shapes, std::vector<int> shape_of_node)
    : level_names_(std::move(levels)), shapes_(std::move(shapes)), shape_of_node_(std::move(shape_of_node)) {
    if (shape_of_node_.empty() || level_names_.empty()) throw Error("a machine needs at least one node");
    for (const auto& shape : shapes_) check_shape(shape, level_names_.size() - 1);
    first_position_.assign(1, 0);
    first_unit_.assign(level_names_.size(), {0});
    for (const int id : shape_of_node_) {
        const auto& shape = shapes_.at(static_cast<std::size_t>(id));
        first_position_.push_back(within(std::int64_t{first_position_.back()} + shape.ranks, most_ranks, "ranks or more"));
        first_unit_[0].push_back(first_unit_[0].back() + 1);
        for (std::size_t l = 1; l < level_names_.size(); ++l)
            first_unit_[l].push_back(within(first_unit_[l].back() + static_cast<std::int64_t>(shape.starts[l - 1].size()) - 1, most_units,
                                            "units or more of level " + level_names_[l]));
    }
}

int Machine::node_of(int position) const {
    if (uniform()) return position / shapes_.front().ranks;
    return unit_at(first_position_, position);
}

int Machine::unit_in_node(int l, int position) const {
    const int node = node_of(position);
    return l == 0 ? node : unit_at(shape(node).starts[l - 1], position - first_position_[node]);
}

int Machine::unit_of(int l, int position) const {
    const int node = node_of(position);
    return l == 0 ? node : first_unit_[l][node] + unit_at(shape(node).starts[l - 1], position - first_position_[node]);
}

Machine make_machine(const Topology& topology, const std::vector<int>& ranks_per_node, Binding binding) {
    check_size(topology);
    const int nodes = topology.levels.front().count;
    if (ranks_per_node.size() != 1 && ranks_per_node.size() != static_cast<std::size_t>(nodes))
        throw Error("ranks per node are given for " + std::to_string(ranks_per_node.size()) + " nodes of " + std::to_string(nodes) +
                    ": give one number for all, or one for each node");
    std::vector<std::string> names;
    for (const auto& level : topology.levels) names.push_back(level.name);
    std::vector<NodeShape> shapes;
    std::vector<int> shape_of_node;
    std::int64_t all = 0;
    for (int node = 0; node < nodes; ++node) {
        const int ranks = ranks_per_node[ranks_per_node.size() == 1 ? 0 : static_cast<std::size_t>(node)];
        if (ranks < 1) throw Error("node " + std::to_string(node) + " has " + std::to_string(ranks) + " ranks: leave empty nodes out");
        within(all += ranks, most_ranks, "ranks or more");
        auto known = std::ranges::find(shapes, ranks, &NodeShape::ranks);
        if (known == shapes.end()) known = shapes.insert(shapes.end(), deal(topology, ranks, binding));
        shape_of_node.push_back(static_cast<int>(known - shapes.begin()));
    }
    return Machine(names, shapes, shape_of_node);
}

}  // namespace parhelion::placement
