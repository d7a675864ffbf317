// METIS through dlopen. Builds with 32-bit and 64-bit indices have the same symbols; its default
// options, written to a buffer, reveal the width. No real numbers are passed: their width does not
// matter.
#include "refine.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/environment.hpp"

namespace parhelion::placement {
namespace {

constexpr int options_count = 40;  // METIS_NOPTIONS
constexpr int ok = 1;              // METIS_OK
constexpr int seed_option = 8;     // METIS_OPTION_SEED

constexpr std::int64_t largest_weight = 1 << 16;

void* library() {
  static void* const loaded = open_library("PARHELION_METIS", {"libmetis.so.5", "libmetis.so"});
  return loaded;
}

template <class Index>
std::optional<std::vector<int>> cut(const Neighborhood& graph, const std::vector<int>& vertices,
    int parts, std::array<Index, options_count> options) {
  using Cut = int (*)(Index*, Index*, Index*, Index*, Index*, Index*, Index*, Index*, void*, void*,
      Index*, Index*, Index*);
  const auto recursive = reinterpret_cast<Cut>(dlsym(library(), "METIS_PartGraphRecursive"));
  if (!recursive) return {};
  std::map<int, Index> local;
  for (const int v : vertices) local.emplace(v, static_cast<Index>(local.size()));
  // Both directions summed, inside the set of vertices.
  std::vector<Index> starts{0}, targets, weights;
  std::vector<std::int64_t> all_bytes;
  for (const int v : vertices) {
    std::map<Index, std::int64_t> bytes;
    graph.for_each(v, [&](const auto& edge) {
      if (const auto found = local.find(edge.point); found != local.end())
        bytes[found->second] += edge.bytes;
    });
    for (const auto& [target, sum] : bytes) targets.push_back(target), all_bytes.push_back(sum);
    starts.push_back(static_cast<Index>(targets.size()));
  }
  // Sums of weights must fit into 32-bit indices.
  const std::int64_t unit =
      all_bytes.empty() ? 1 : std::ranges::max(all_bytes) / largest_weight + 1;
  for (const std::int64_t bytes : all_bytes)
    weights.push_back(static_cast<Index>(std::max<std::int64_t>(1, bytes / unit)));
  Index count = static_cast<Index>(vertices.size()), constraints = 1, wanted = parts, edge_cut = 0;
  std::vector<Index> part(vertices.size());
  options[seed_option] = 1;
  if (recursive(&count, &constraints, starts.data(), targets.data(), nullptr, nullptr,
          weights.data(), &wanted, nullptr, nullptr, options.data(), &edge_cut, part.data()) != ok)
    return {};
  return std::vector<int>(part.begin(), part.end());
}

}  // namespace

std::optional<std::vector<int>> cut_with_metis(
    const Neighborhood& graph, const std::vector<int>& vertices, int parts, std::string& why) {
  using Defaults = int (*)(void*);
  const auto defaults =
      library() ? reinterpret_cast<Defaults>(dlsym(library(), "METIS_SetDefaultOptions")) : nullptr;
  if (!defaults) {
    why = "METIS is not installed: the graph is placed by local search alone";
    return {};
  }
  std::array<std::int64_t, options_count> buffer;
  buffer.fill(0);
  defaults(buffer.data());
  std::optional<std::vector<int>> found;
  if (buffer.back() == -1) {
    found = cut<std::int64_t>(graph, vertices, parts, buffer);
  } else {
    std::array<std::int32_t, options_count> narrow;
    std::memcpy(narrow.data(), buffer.data(), sizeof narrow);
    found = cut<std::int32_t>(graph, vertices, parts, narrow);
  }
  if (!found) why = "METIS failed to partition the graph";
  return found;
}

}  // namespace parhelion::placement
