#include "parhelion/placement/between_nodes.hpp"

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "placement/problem.hpp"

namespace parhelion::placement {
namespace {

// Along each dimension, the cells of a rank are its lower end only (0), both ends or neither (1),
// or its upper end only (2). An offset sends the lower end (0), all cells (1), or the upper end
// (2).
constexpr Coords thirds{3, 3, 3, 3};
using Directions = std::bitset<3 * 3 * 3 * 3>;

int direction_of(Coords step) {
  for (int& s : step) s = (s > 0) - (s < 0) + 1;
  return index_of(thirds, step);
}

// A rank's distinct cells that travel in these directions.
std::int64_t cells_sent(const Stencil& stencil, const Directions& directions) {
  // Of an end, and between the ends: negative where they overlap.
  std::array<std::int64_t, max_dimensions> end, between;
  for (std::size_t d = 0; d < max_dimensions; ++d) {
    const std::int64_t extent = d < stencil.extent.size() ? stencil.extent[d] : 1;
    end[d] = std::min<std::int64_t>(stencil.halo, extent), between[d] = extent - 2 * end[d];
  }
  std::int64_t sum = 0;
  for (int index = 0; index < volume(thirds); ++index) {
    const Coords part = point_of(thirds, index);
    bool travels = false;
    for (int number = 0; number < volume(thirds) && !travels; ++number) {
      const Coords direction = point_of(thirds, number);
      travels = directions[number];
      for (std::size_t d = 0; d < max_dimensions; ++d)
        travels = travels && (direction[d] == 1 || direction[d] == part[d] ||
                                 (part[d] == 1 && between[d] < 0));
    }
    std::int64_t cells = travels;
    for (std::size_t d = 0; d < max_dimensions; ++d)
      cells *= part[d] == 1 ? std::abs(between[d]) : end[d] + std::min<std::int64_t>(between[d], 0);
    sum += cells;
  }
  return sum;
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

std::vector<NodePair> node_pairs(
    const ProcessGrid& grid, const Stencil& stencil, const std::vector<int>& nodes) {
  check_bytes(grid, stencil);
  if (nodes.size() != static_cast<std::size_t>(grid.size()))
    refuse("nodes are given for ", nodes.size(), " of the process grid's ", grid.size(),
        " points: give one for each");
  // What one point sends to one other node.
  struct Sent {
    std::vector<int> ranks;
    std::int64_t bytes = 0;
    Directions directions;
  };
  const bool known = !stencil.extent.empty();
  std::unordered_map<Directions, std::int64_t> cells;
  // `messages` counts senders until all points are visited.
  std::map<std::pair<int, int>, NodePair> found;
  for (int p = 0; p < grid.size(); ++p) {
    const int from = nodes[p];
    std::map<int, Sent> by_node;
    for_each_edge(grid, stencil, p, [&](int rank, const Offset& offset) {
      if (nodes[rank] == from) return;
      Sent& sent = by_node[nodes[rank]];
      if (std::ranges::find(sent.ranks, rank) == sent.ranks.end()) sent.ranks.push_back(rank);
      sent.bytes += offset.bytes;
      sent.directions.set(direction_of(offset.step));
    });
    for (const auto& [to, sent] : by_node) {
      NodePair& pair = found.try_emplace({from, to}, NodePair{from, to}).first->second;
      pair.pairs += static_cast<std::int64_t>(sent.ranks.size());
      pair.bytes_in_pairs += sent.bytes;
      ++pair.messages;
      if (!known) continue;
      const auto [count, is_new] = cells.try_emplace(sent.directions);
      if (is_new) count->second = cells_sent(stencil, sent.directions);
      pair.bytes += count->second * stencil.bytes_per_cell;
    }
  }
  std::vector<NodePair> pairs;
  for (auto& [ends, pair] : found) {
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
    const Scores& scores, const std::vector<int>& positions, const ExchangeCosts& costs) {
  if (stencil.extent.empty())
    refuse(
        "the time of an exchange depends on its cells: give the cells, of all ranks or "
        "of one, and the halo width");
  const auto between = between_nodes(node_pairs(grid, stencil, nodes_of(machine, positions)));
  const auto& names = machine.level_names();
  double seconds = costs.fixed_s +
                   costs.copied_byte_s * static_cast<double>(scores[memory_level(names)].sent_max);
  for (std::size_t l = 0; l < names.size(); ++l) {
    const auto cost = costs.levels.find(names[l]);
    if (cost == costs.levels.end()) continue;
    const double messages =
        l == 0
            ? static_cast<double>(between.aggregated.busiest_messages)
            : static_cast<double>(scores[l].edges_sum - scores[l - 1].edges_sum) / machine.size();
    const auto bytes = l == 0 ? between.aggregated.busiest_bytes : scores[l].bytes_max;
    seconds += cost->second.message_s * messages + cost->second.byte_s * static_cast<double>(bytes);
  }
  return seconds;
}

}  // namespace parhelion::placement
