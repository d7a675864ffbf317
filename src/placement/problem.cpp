#include "problem.hpp"

#include <algorithm>
#include <cstdlib>

namespace parhelion::placement {

Units::Units(const Machine& machine) : levels_(machine.levels()) {
  of_.reserve(levels_ * machine.size());
  for (int position = 0; position < machine.size(); ++position)
    for (int l = 0; l < machine.levels(); ++l) of_.push_back(machine.unit_of(l, position));
}

Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
    const Units& units, const std::vector<int>& positions) {
  return score_edges(machine, units, positions, [&](int point, const auto& visit) {
    for_each_edge(
        grid, stencil, point, [&](int to, const Offset& offset) { visit(to, offset.bytes); });
  });
}

Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine,
    const std::vector<int>& positions) {
  return score(grid, stencil, machine, Units(machine), positions);
}

Problem::Problem(ProcessGrid grid_, Stencil stencil_, const Machine& machine_)
    : grid(grid_), stencil(std::move(stencil_)), machine(machine_), units(machine_) {
  check_bytes(grid, stencil);
  std::map<int, int> kind_of_shape;
  std::vector<int> nodes;
  for (int node = 0; node < machine.nodes(); ++node) {
    const auto [kind, is_new] = kind_of_shape.try_emplace(machine.shape_id(node));
    const NodeShape& shape = machine.shape(node);
    if (is_new) kind->second = intern_unit(shape, 0, machine.first_position(node), 0, shape.ranks);
    nodes.push_back(kind->second);
  }
  intern(-1, 0, machine.size(), nodes);
  for (const auto& offset : stencil.offsets)
    for (int d = 0; d < max_dimensions; ++d)
      cut_weight_[d] += static_cast<double>(offset.bytes) * std::abs(offset.step[d]);
  for (auto& weight : cut_weight_) weight = std::max(weight, 1e-6);
}

int Problem::intern_unit(const NodeShape& shape, int level, int node, int first, int last) {
  std::vector<int> parts;
  if (level + 1 < machine.levels()) {
    const auto& starts = shape.starts[level];
    for (std::size_t u = 0; u + 1 < starts.size(); ++u)
      if (starts[u] >= first && starts[u + 1] <= last && starts[u] < starts[u + 1])
        parts.push_back(intern_unit(shape, level + 1, node, starts[u], starts[u + 1]));
  }
  return intern(level, node + first, last - first, std::move(parts));
}

int Problem::intern(int level, int position, int ranks, std::vector<int> parts) {
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    if (kinds_[k].level == level && kinds_[k].ranks == ranks && kinds_[k].parts == parts)
      return static_cast<int>(k);
  UnitKind kind{level, ranks, std::move(parts), {0}, true, position};
  for (const int part : kind.parts) {
    kind.starts.push_back(kind.starts.back() + kinds_[part].ranks);
    kind.equal_parts = kind.equal_parts && part == kind.parts.front();
  }
  kinds_.push_back(std::move(kind));
  return static_cast<int>(kinds_.size()) - 1;
}

Share Problem::share(int first, int size) const {
  for (int kind = static_cast<int>(kinds_.size()) - 1;;) {
    const auto& [level, ranks, parts, starts, equal_parts, position] = kinds_[kind];
    if (parts.empty()) return {kind, 0, 0};
    const auto begin = std::ranges::upper_bound(starts, first) - starts.begin() - 1;
    const auto end = std::ranges::lower_bound(starts, first + size) - starts.begin();
    if (end - begin > 1)
      return {kind, equal_parts ? 0 : static_cast<int>(begin), static_cast<int>(end - begin)};
    first -= starts[begin];
    kind = parts[begin];
  }
}

namespace {

// Points i with i and i + step on different sides of the cut, in a line of n points.
std::int64_t crossings(int n, int cut, int step, bool wraps) {
  if (wraps) {
    const int shift = (step % n + n) % n;
    return 2 * std::min({shift, n - shift, cut, n - cut});
  }
  const int reach = std::abs(step);
  return std::max(0, std::min(cut, n - reach) - std::max(0, cut - reach));
}

}  // namespace

std::int64_t Problem::cut(const Coords& box, int d, int thickness) const {
  std::int64_t bytes = 0;
  for (const auto& offset : stencil.offsets) {
    std::int64_t edges = crossings(box[d], thickness, offset.step[d], wraps(box, d));
    for (int j = 0; j < max_dimensions && edges > 0; ++j)
      if (j != d) edges *= wraps(box, j) ? box[j] : std::max(0, box[j] - std::abs(offset.step[j]));
    bytes += edges * offset.bytes;
  }
  return bytes;
}

Costs Problem::costs(const Coords& box, const Share& share, const std::vector<int>& places) const {
  ProcessGrid inside{grid.dimensions, box, {}};
  for (int d = 0; d < max_dimensions; ++d) inside.periodic[d] = wraps(box, d);
  const int first = kind(share).position + kind(share).starts[share.first];
  std::array<std::int64_t, max_levels + 1> bytes{};
  for (std::size_t p = 0; p < places.size(); ++p)
    for_each_edge(inside, stencil, static_cast<int>(p), [&](int to, const Offset& offset) {
      bytes[units.parting(first + places[p], first + places[to])] += offset.bytes;
    });
  Costs costs{};
  std::copy_n(bytes.begin(), machine.levels(), costs.begin());
  return costs;
}

}  // namespace parhelion::placement
