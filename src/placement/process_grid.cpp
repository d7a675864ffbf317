#include "parhelion/placement/process_grid.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "core/concat.hpp"

namespace parhelion::placement {
namespace {

constexpr std::string_view letters = "XYZT";

std::vector<int> dimensions_named(const std::string& text) {
  std::vector<int> named;
  if (text.find_first_of("0123456789") == std::string::npos) {
    for (const char c : text)
      named.push_back(static_cast<int>(letters.find(static_cast<char>(std::toupper(c)))));
    return named;
  }
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) named.push_back(std::atoi(item.c_str()));
  return named;
}

}  // namespace

std::string shown(const std::vector<int>& extents) {
  std::string text;
  for (const int extent : extents) text += concat((text.empty() ? "" : "x"), extent);
  return text;
}

ProcessGrid make_grid(const std::vector<int>& extents, const std::vector<bool>& periodic) {
  ProcessGrid grid;
  grid.dimensions = static_cast<int>(extents.size());
  if (extents.empty() || extents.size() > max_dimensions)
    refuse("process grid has ", extents.size(), " dimensions: give 1 to 4, such as 12x12x12");
  if (periodic.size() > 1 && periodic.size() != extents.size())
    refuse("periodicity is given for ", periodic.size(), " dimensions of the process grid ",
        shown(extents), ": give one for all, or one for each dimension");
  std::int64_t points = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] < 1)
      refuse("process grid ", shown(extents), " has no point in dimension ", d,
          ": every extent must be at least 1");
    points *= extents[d];
    if (points > std::numeric_limits<int>::max())
      refuse("process grid ", shown(extents),
          " has more than 2^31 - 1 points: MPI cannot number its ranks");
    grid.extent[d] = extents[d];
    grid.periodic[d] = !periodic.empty() && periodic[periodic.size() == 1 ? 0 : d];
  }
  return grid;
}

Numbering::Numbering(int dimensions) {
  for (int d = dimensions - 1; d >= 0; --d) fastest_first_.push_back(d);
}

Numbering Numbering::parse(const std::string& text, int dimensions) {
  Numbering numbering(dimensions);
  if (text.empty()) return numbering;
  const auto named = dimensions_named(text);
  if (!std::ranges::is_permutation(named, numbering.fastest_first_))
    refuse("numbering '", text, "' does not name each of the ", dimensions,
        " dimensions once: give a permutation such as '", numbering.name(), "', the fastest first");
  numbering.fastest_first_ = named;
  return numbering;
}

int Numbering::rank(const Coords& extent, const Coords& point) const {
  int rank = 0;
  for (auto d = fastest_first_.rbegin(); d != fastest_first_.rend(); ++d)
    rank = rank * extent[*d] + point[*d];
  return rank;
}

Coords Numbering::coords(const Coords& extent, int rank) const {
  Coords point{};
  for (const int d : fastest_first_) {
    point[d] = rank % extent[d];
    rank /= extent[d];
  }
  return point;
}

std::string Numbering::name() const {
  std::string text;
  for (const int d : fastest_first_) text += letters[d];
  return text;
}

}  // namespace parhelion::placement
