#include <algorithm>
#include <ranges>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "parhelion/placement/placement.hpp"
#include "placement/methods/methods.hpp"

namespace parhelion::placement {
namespace {

struct Blocks {
  std::string name;  ///< as given
  Coords extent{1, 1, 1, 1};
};

int level_of(const Machine& machine, const std::string& given) {
  const auto& names = machine.level_names();
  const auto found = std::ranges::find(names, level_name(given));
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string have;
  for (const auto& name : names) have += (have.empty() ? "" : ", ") + name;
  refuse("blocks are given for the level ", given, ", which this machine does not have: it has ",
      have);
}

// By level of the machine, outermost first.
std::map<int, Blocks> sorted_blocks(const Machine& machine,
    const std::map<std::string, std::vector<int>>& given, std::size_t dimensions) {
  std::map<int, Blocks> sorted;
  for (const auto& [name, extent] : given) {
    if (extent.size() != dimensions || dimensions == 0 || dimensions > max_dimensions ||
        std::ranges::min(extent) < 1)
      refuse("blocks of level ", name, " are '", shown(extent), "': give ",
          std::max<std::size_t>(dimensions, 1), " extents of at least 1 for every level");
    const auto [blocks, is_new] = sorted.try_emplace(level_of(machine, name), Blocks{name});
    if (!is_new)
      refuse("levels ", blocks->second.name, " and ", name, " are the same: give its blocks once");
    std::ranges::copy(extent, blocks->second.extent.begin());
  }
  if (!sorted.contains(0))
    refuse(
        "blocks for the level node are missing: say how the nodes are arranged, such as node: "
        "(3, 3, 3)");
  return sorted;
}

// Non-empty units must hold as many ranks as their inner blocks have points.
void check_units(const Machine& machine, int level, const std::string& name, std::int64_t ranks) {
  for (int node = 0; node < machine.nodes(); ++node) {
    const auto& shape = machine.shape(node);
    std::vector<int> starts{0, shape.ranks};
    if (level > 0) starts = shape.starts[level - 1];
    for (std::size_t u = 0; u + 1 < starts.size(); ++u)
      if (const int have = starts[u + 1] - starts[u]; have != 0 && have != ranks)
        refuse("a unit of level ", name, " on node ", node, " has ", have,
            " ranks, but the blocks inside it hold ", ranks,
            ": make the product of the inner levels' blocks equal to the ranks there");
  }
}

}  // namespace

Placement place_by_hand(const Machine& machine,
    const std::map<std::string, std::vector<int>>& blocks, const std::vector<bool>& periodic,
    const std::string& numbering) {
  const auto dimensions = blocks.empty() ? 0 : blocks.begin()->second.size();
  const auto sorted = sorted_blocks(machine, blocks, dimensions);
  const auto numbers = Numbering::parse(numbering, static_cast<int>(dimensions));
  std::int64_t ranks = 1;
  for (const auto& [level, blocks_here] : std::views::reverse(sorted)) {
    check_units(machine, level, blocks_here.name, ranks);
    for (const int extent : blocks_here.extent)
      ranks = checked_product({ranks, extent}, "the product of the blocks");
  }
  if (ranks != machine.size())
    refuse("the blocks hold ", ranks, " ranks in all, but the machine has ", machine.size(),
        ": make their product equal to the number of ranks");
  Coords box{1, 1, 1, 1};
  Order order{0};
  for (const auto& [level, blocks_here] : std::views::reverse(sorted))
    for (const int d : numbers.fastest_first()) {
      const std::vector<Slab> slabs(blocks_here.extent[d], {box[d], order});
      box[d] *= blocks_here.extent[d];
      order = slab_after_slab(box, d, slabs);
    }
  return Placement(make_grid({box.begin(), box.begin() + static_cast<int>(dimensions)}, periodic),
      machine, std::move(order));
}

}  // namespace parhelion::placement
