#include "parhelion/placement/between_nodes.hpp"

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "core/concat.hpp"
#include "core/node_messages.hpp"
#include "parhelion/core/error.hpp"
#include "placement/problem.hpp"

namespace parhelion::placement {
namespace {

constexpr int most_directions = 81;  // 3^max_dimensions

// Along each dimension an offset sends the lower end, all cells, or the upper end: one base-3
// digit.
int direction_of(const Coords& step) {
    int code = 0;
    for (const int s : step) code = 3 * code + (s > 0) - (s < 0) + 1;
    return code;
}

// Counts a rank's distinct cells that travel in a set of directions.
class Cells {
public:
    using Directions = std::bitset<most_directions>;

    explicit Cells(const Stencil& stencil) : stencil_(stencil) {}

    std::int64_t bytes(const Directions& directions) {
        const auto [known, is_new] = bytes_.emplace(directions, 0);
        if (is_new) known->second = cells(directions) * stencil_.bytes_per_cell;
        return known->second;
    }

private:
    // The ends cut each dimension into three parts: lower end only, both ends or neither, upper end
    // only.
    std::int64_t cells(const Directions& directions) const {
        std::int64_t sum = 0;
        for (int part = 0; part < most_directions; ++part) {
            bool travels = false;
            for (int direction = 0; direction < most_directions && !travels; ++direction)
                travels = directions[direction] && holds(direction, part);
            if (travels) sum += size(part);
        }
        return sum;
    }

    std::int64_t extent(std::size_t d) const {
        return d < stencil_.extent.size() ? stencil_.extent[d] : 1;
    }
    std::int64_t end(std::size_t d) const {
        return std::min<std::int64_t>(stencil_.halo, extent(d));
    }
    bool ends_meet(std::size_t d) const { return 2 * end(d) > extent(d); }

    bool holds(int direction, int part) const {
        for (std::size_t d = max_dimensions; d-- > 0; direction /= 3, part /= 3) {
            const int wanted = direction % 3, found = part % 3;
            if (wanted != 1 && wanted != found && !(found == 1 && ends_meet(d))) return false;
        }
        return true;
    }

    std::int64_t size(int part) const {
        std::int64_t cells = 1;
        for (std::size_t d = max_dimensions; d-- > 0; part /= 3) {
            const std::int64_t between = extent(d) - 2 * end(d);
            cells *=
                part % 3 == 1 ? std::abs(between) : end(d) + std::min<std::int64_t>(between, 0);
        }
        return cells;
    }

    const Stencil& stencil_;
    std::unordered_map<Directions, std::int64_t> bytes_;
};

struct Sent {
    int node;
    std::vector<int> ranks;
    std::int64_t bytes = 0;
    Cells::Directions directions;
};

std::vector<Sent> sent_by(const ProcessGrid& grid, const Stencil& stencil,
                          const std::vector<int>& nodes, int point) {
    std::vector<Sent> all;
    for_each_edge(grid, stencil, point, [&](int rank, const Offset& offset) {
        const int node = nodes[rank];
        if (node == nodes[point]) return;
        auto sent = std::ranges::find(all, node, &Sent::node);
        if (sent == all.end()) sent = all.insert(all.end(), Sent{node, {}, 0, {}});
        if (std::ranges::find(sent->ranks, rank) == sent->ranks.end()) sent->ranks.push_back(rank);
        sent->bytes += offset.bytes;
        sent->directions.set(direction_of(offset.step));
    });
    return all;
}

// The level whose ranks share memory bandwidth.
std::size_t memory_level(const std::vector<std::string>& names) {
    for (const char* name : {"numa", "pack"})
        if (const auto found = std::ranges::find(names, name); found != names.end())
            return static_cast<std::size_t>(found - names.begin());
    return 0;
}

void add(NodeMessages& sum, std::int64_t messages, std::int64_t bytes) {
    sum.messages += messages, sum.busiest_messages = std::max(sum.busiest_messages, messages);
    sum.bytes += bytes, sum.busiest_bytes = std::max(sum.busiest_bytes, bytes);
}

}  // namespace

std::vector<int> nodes_of(const Machine& machine, const std::vector<int>& positions) {
    std::vector<int> nodes(positions);
    for (int& node : nodes) node = machine.node_of(node);
    return nodes;
}

std::vector<NodePair> node_pairs(const ProcessGrid& grid, const Stencil& stencil,
                                 const std::vector<int>& nodes) {
    check_bytes(grid, stencil);
    if (nodes.size() != static_cast<std::size_t>(grid.size()))
        throw Error(concat("nodes are given for ", nodes.size(), " of the process grid's ",
                           grid.size(), " points: give one for each"));
    const bool known = !stencil.extent.empty();
    Cells cells(stencil);
    std::map<std::pair<int, int>, NodePair>
        found;  // `messages` counts senders until all points are visited
    for (int p = 0; p < grid.size(); ++p)
        for (const Sent& sent : sent_by(grid, stencil, nodes, p)) {
            const int from = nodes[p];
            NodePair& pair =
                found.try_emplace({from, sent.node}, NodePair{from, sent.node}).first->second;
            pair.pairs += static_cast<std::int64_t>(sent.ranks.size()),
                pair.bytes_in_pairs += sent.bytes;
            ++pair.messages;
            if (known) pair.bytes += cells.bytes(sent.directions);
        }
    std::vector<NodePair> pairs;
    for (auto& [nodes_of_pair, pair] : found) {
        pair.messages = known ? node_messages(pair.bytes, pair.messages) : 1;
        if (!known) pair.bytes = -1;
        pairs.push_back(pair);
    }
    return pairs;
}

BetweenNodes between_nodes(const std::vector<NodePair>& pairs) {
    std::map<int, NodePair> by_node;
    bool known = true;
    for (const NodePair& pair : pairs) {
        NodePair& sum = by_node[pair.from];
        sum.pairs += pair.pairs, sum.bytes_in_pairs += pair.bytes_in_pairs;
        sum.messages += pair.messages, sum.bytes += pair.bytes;
        known = known && pair.bytes >= 0;
    }
    BetweenNodes between;
    for (const auto& [node, sum] : by_node) {
        add(between.pairwise, sum.pairs, sum.bytes_in_pairs);
        add(between.aggregated, sum.messages, sum.bytes);
    }
    if (!known) between.aggregated.bytes = between.aggregated.busiest_bytes = -1;
    return between;
}

double predicted_seconds(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
                         const Scores& scores, const std::vector<int>& positions,
                         const ExchangeCosts& costs) {
    if (stencil.extent.empty())
        throw Error(
            "what an exchange takes depends on which cells travel: give the cells, of all ranks or "
            "of one, and the halo width");
    const auto between = between_nodes(node_pairs(grid, stencil, nodes_of(machine, positions)));
    const auto& names = machine.level_names();
    double seconds = costs.fixed_s + costs.copied_byte_s *
                                         static_cast<double>(scores[memory_level(names)].sent_max);
    for (std::size_t l = 0; l < names.size(); ++l) {
        const auto cost = costs.levels.find(names[l]);
        if (cost == costs.levels.end()) continue;
        const double messages =
            l == 0 ? static_cast<double>(between.aggregated.busiest_messages)
                   : static_cast<double>(scores[l].edges_sum - scores[l - 1].edges_sum) /
                         machine.size();
        const auto bytes = l == 0 ? between.aggregated.busiest_bytes : scores[l].bytes_max;
        seconds +=
            cost->second.message_s * messages + cost->second.byte_s * static_cast<double>(bytes);
    }
    return seconds;
}

}  // namespace parhelion::placement
