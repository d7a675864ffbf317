#include "parhelion/placement/machine.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>
#include <sstream>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

void check_shape(const NodeShape& shape, std::size_t inner_levels) {
  if (shape.ranks < 1) refuse("a node has no rank: leave it out of the machine");
  if (shape.starts.size() != inner_levels)
    refuse("a node has ", shape.starts.size(), " inner levels where others have ", inner_levels,
        ": describe every node with the same levels");
  std::vector<int> around;
  for (const auto& starts : shape.starts) {
    if (starts.size() < 2 || starts.front() != 0 || starts.back() != shape.ranks ||
        !std::ranges::is_sorted(starts))
      refuse("the units of a level do not cover the ", shape.ranks, " ranks of their node");
    if (!std::ranges::includes(starts, around))
      refuse(
          "a unit straddles two units of the enclosing level: order the levels from the "
          "outermost in");
    around = starts;
    around.erase(std::ranges::unique(around).begin(), around.end());
  }
}

// Counts must fit in int, and arrays have one entry for each.
int within(std::int64_t count, int most, const std::string& what) {
  if (count > most)
    refuse("the machine has ", count, " ", what, ", placement takes at most ", most,
        ": describe a smaller machine");
  return static_cast<int>(count);
}

// Level by level, distributes a unit's ranks in proportion to innermost units. Rounding up gives
// rank 0 to the first.
NodeShape deal(const NodeShape& units, int ranks, Binding binding) {
  // With more ranks than innermost units, each holds several.
  const bool even = binding == Binding::spread || ranks > units.ranks;
  NodeShape shape{ranks, {}};
  std::vector<int> around{0, units.ranks}, ranks_around{0, ranks};
  for (const auto& starts : units.starts) {
    std::vector<int> dealt;
    std::size_t u = 0;
    for (const int start : starts) {
      if (u + 2 < around.size() && around[u + 1] <= start) ++u;
      const std::int64_t before = start - around[u], all = around[u + 1] - around[u];
      const std::int64_t here = (before * (ranks_around[u + 1] - ranks_around[u]) + all - 1) / all;
      dealt.push_back(even ? ranks_around[u] + static_cast<int>(here) : std::min(ranks, start));
    }
    shape.starts.push_back(dealt);
    around = starts, ranks_around = std::move(dealt);
  }
  return shape;
}

int unit_at(const std::vector<int>& starts, int rank) {
  return static_cast<int>(std::ranges::upper_bound(starts, rank) - starts.begin()) - 1;
}

}  // namespace

std::string level_name(const std::string& text) {
  static const std::map<std::string, std::string> other_names{{"machine", "node"}, {"host", "node"},
      {"package", "pack"}, {"socket", "pack"}, {"numanode", "numa"}, {"l3cache", "l3"},
      {"l2cache", "l2"}, {"thread", "pu"}, {"hwthread", "pu"}};
  std::string name = text;
  std::ranges::transform(
      name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const auto other = other_names.find(name); other != other_names.end()) name = other->second;
  for (const char* known : {"node", "pack", "numa", "group", "die", "l3", "l2", "core", "pu"})
    if (name == known) return name;
  refuse("level '", text,
      "' is unknown: levels are node, pack (socket), numa, group, die, l3, l2, core, pu "
      "(thread)");
}

Topology parse_topology(const std::string& text) {
  Topology topology{1, {}, {1, {}}, "description '" + text + "'"};
  const auto wrong = [&](const auto&... why) { refuse("topology '", text, "'", why...); };
  std::vector<int> counts;
  std::int64_t units = 1;
  std::istringstream stream(text);
  for (std::string token; stream >> token;) {
    const auto colon = token.find(':');
    if (colon == std::string::npos)
      wrong(": '", token, "' has no count: write level:count, such as 'pack:2'");
    const std::string name = level_name(token.substr(0, colon));
    if (std::ranges::find(topology.levels, name) != topology.levels.end())
      wrong(" names the level ", name, " twice: give each level once");
    int& count = counts.emplace_back();
    const char* const end = token.data() + token.size();
    const auto [stop, problem] = std::from_chars(token.data() + colon + 1, end, count);
    if (problem != std::errc{} || stop != end || count < 1)
      wrong(": '", token, "' needs a count of at least 1 after the colon, such as 'pack:2'");
    topology.levels.push_back(name);
    units = within(checked_product({units, count}, "the number of units of the machine"),
        counts.size() == 1 ? most_nodes : most_units, "units of level " + name);
  }
  if (topology.levels.empty() || topology.levels.front() != "node")
    wrong(" does not start with nodes: begin with 'node:N', then the parts of a node");
  topology.nodes = counts.front();
  const int of_node = topology.units.ranks = static_cast<int>(units) / topology.nodes;
  for (int size = of_node; const int count : std::views::drop(counts, 1)) {
    auto& starts = topology.units.starts.emplace_back();
    size /= count;
    for (int start = 0; start <= of_node; start += size) starts.push_back(start);
  }
  return topology;
}

Machine::Machine(
    std::vector<std::string> levels, std::vector<NodeShape> shapes, std::vector<int> shape_of_node)
    : level_names_(std::move(levels)), shapes_(std::move(shapes)),
      shape_of_node_(std::move(shape_of_node)) {
  if (shape_of_node_.empty() || level_names_.empty()) refuse("a machine needs at least one node");
  for (const auto& shape : shapes_) check_shape(shape, level_names_.size() - 1);
  first_position_.assign(1, 0);
  first_unit_.assign(level_names_.size(), {0});
  for (const int id : shape_of_node_) {
    const auto& shape = shapes_.at(id);
    first_position_.push_back(
        within(std::int64_t{first_position_.back()} + shape.ranks, most_ranks, "ranks or more"));
    for (std::size_t l = 0; l < level_names_.size(); ++l) {
      const std::size_t units = l == 0 ? 1 : shape.starts[l - 1].size() - 1;
      first_unit_[l].push_back(within(first_unit_[l].back() + static_cast<std::int64_t>(units),
          most_units, "units or more of level " + level_names_[l]));
    }
  }
}

int Machine::node_of(int position) const {
  return uniform() ? position / shapes_.front().ranks : unit_at(first_position_, position);
}

int Machine::unit_in_node(int l, int position) const {
  const int node = node_of(position);
  return l == 0 ? node : unit_at(shape(node).starts[l - 1], position - first_position_[node]);
}

int Machine::unit_of(int l, int position) const {
  return l == 0 ? node_of(position) : first_unit_[l][node_of(position)] + unit_in_node(l, position);
}

Machine make_machine(
    const Topology& topology, const std::vector<int>& ranks_per_node, Binding binding) {
  const bool all_equal = ranks_per_node.size() == 1;
  if (!all_equal && ranks_per_node.size() != static_cast<std::size_t>(topology.nodes))
    refuse("ranks per node are given for ", ranks_per_node.size(), " nodes of ", topology.nodes,
        ": give one number for all, or one for each node");
  std::vector<NodeShape> shapes;
  std::vector<int> shape_of_node;
  std::int64_t all = 0;
  for (int node = 0; node < topology.nodes; ++node) {
    const int ranks = ranks_per_node[all_equal ? 0 : node];
    if (ranks < 1) refuse("node ", node, " has ", ranks, " ranks: leave empty nodes out");
    within(all += ranks, most_ranks, "ranks or more");
    auto known = std::ranges::find(shapes, ranks, &NodeShape::ranks);
    if (known == shapes.end())
      known = shapes.insert(shapes.end(), deal(topology.units, ranks, binding));
    shape_of_node.push_back(static_cast<int>(known - shapes.begin()));
  }
  return Machine(topology.levels, shapes, shape_of_node);
}

}  // namespace parhelion::placement
