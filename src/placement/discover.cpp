#include <algorithm>
#include <map>

#include "core/collective_step.hpp"
#include "core/resources.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

// This process's affinity mask; empty if unknown: counts as unbound.
CpuSet own_binding() try {
  const CpuMask mask = usable_threads();
  CpuSet cpus;
  for (std::size_t cpu = 0; cpu < 64 * mask.size(); ++cpu)
    if (mask[cpu / 64] >> cpu % 64 & 1) cpus.push_back(static_cast<int>(cpu));
  return cpus;
} catch (const Error&) {
  return {};
}

// Names of levels, each followed by a blank.
std::string names_of(const NodeTopology& node, std::size_t first, std::size_t last) {
  std::string names;
  for (std::size_t l = first; l < last; ++l) names += node.levels[l].name + " ";
  return names;
}

// Ranks, then per level the number of starts and the starts.
void append(std::vector<int>& words, const NodeShape& shape) {
  words.push_back(shape.ranks);
  for (const auto& starts : shape.starts) {
    words.push_back(static_cast<int>(starts.size()));
    words.insert(words.end(), starts.begin(), starts.end());
  }
}

std::vector<NodeShape> shapes_from(const std::vector<int>& words, std::size_t levels) {
  std::vector<NodeShape> shapes;
  for (auto at = words.begin(); at != words.end();) {
    NodeShape& shape = shapes.emplace_back();
    shape.ranks = *at++;
    for (std::size_t l = 0; l < levels; ++l) {
      const int count = *at++;
      shape.starts.emplace_back(at, at + count);
      at += count;
    }
  }
  return shapes;
}

// Nodes in the order of their lowest ranks, the leaders.
struct Nodes {
  std::vector<int> leaders, own;  // ranks; `own`: those of this rank's node
  int index = 0;                  // of this rank's node
};

Nodes find_nodes(const Communicator& comm, int color) {
  std::int64_t mine = color;
  if (color < 0) {
    comm.node();
    mine = std::ranges::min(comm.node_ranks());
  }
  const auto ids = of_all(comm, {mine});
  Nodes nodes;
  std::map<std::int64_t, int> known;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (known.emplace(ids[rank], static_cast<int>(known.size())).second)
      nodes.leaders.push_back(rank);
    if (ids[rank] == mine) nodes.own.push_back(rank);
  }
  nodes.index = known.at(mine);
  return nodes;
}

Discovered find(const Communicator& comm, int node_color) {
  const Nodes nodes = find_nodes(comm, node_color);
  const int leader = nodes.own.front();
  const bool leads = comm.rank() == leader;
  std::vector<CpuSet> bindings;
  for (const Message& each : neighbor_exchange(
           comm, {message_of(own_binding(), leader)}, leads ? nodes.own : std::vector<int>{}))
    bindings.push_back(each.values<int>());
  NodeTopology here;
  std::vector<Message> places;
  std::vector<int> words;
  std::string names, note;
  if (leads) {
    here = read_sysfs();
    const int levels = usable_levels(here, bindings);
    const auto [shape, order] = sort_ranks(here, bindings, levels);
    for (int i = 0; i < shape.ranks; ++i)
      places.push_back(message_of(std::vector{i}, nodes.own[order[i]]));
    names = names_of(here, 0, static_cast<std::size_t>(levels));
    append(words, shape);
  }
  const int place = neighbor_exchange(comm, places, {leader}).front().values<int>().front();
  const auto all_names = gather(comm, message_of(names)), all = gather(comm, message_of(words));
  std::vector<int> shape_of_node;
  if (comm.rank() == 0) {
    std::vector<std::vector<std::string>> levels;
    for (const int rank : nodes.leaders) {
      const auto text = all_names[rank].values<char>();
      levels.push_back(names_in({text.begin(), text.end()}));
    }
    auto common = levels.front();
    for (const auto& each : levels)
      common.erase(std::ranges::mismatch(common, each).in1, common.end());
    words.clear();
    std::map<NodeShape, int> known;
    for (std::size_t node = 0; node < levels.size(); ++node) {
      const auto told = all[nodes.leaders[node]].values<int>();
      NodeShape shape = shapes_from(told, levels[node].size()).front();
      shape.starts.resize(common.size());
      const auto [found, is_new] = known.emplace(shape, static_cast<int>(known.size()));
      shape_of_node.push_back(found->second);
      if (is_new) append(words, shape);
    }
    names = names_of(here, 0, common.size());
    if (common.size() < here.levels.size())
      note = "levels not used because ranks are not bound within their units: " +
             names_of(here, common.size(), here.levels.size()) +
             "(bind ranks to cores when starting them)";
  }
  std::vector<std::string> levels = names_in("node " + from_first(comm, names));
  auto shapes = shapes_from(from_first(comm, words), levels.size() - 1);
  Machine machine(std::move(levels), std::move(shapes), from_first(comm, shape_of_node));
  const int position = machine.first_position(nodes.index) + place;
  return {std::move(machine), position, from_first(comm, here.source), from_first(comm, note)};
}

}  // namespace

Discovered discover(const Communicator& comm, int node_color) {
  return collectively(comm, "discover", [&] { return find(comm, node_color); });
}

}  // namespace parhelion::placement
