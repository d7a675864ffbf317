#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/orphans.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/plan/bound_arrays.hpp"

namespace parhelion {

/// Keeps the arrays' node-shared memory until the process ends: a send that cannot be cancelled may
/// read it. Callers own other arrays.
inline void orphan_arrays(const BoundArrays& arrays) {
  for (std::size_t b = 0; b < arrays.size(); ++b)
    if (auto place = find_node_shared(arrays.bases()[b])) orphan(std::move(place->keep));
}

struct Awaited {
  const std::atomic<std::uint64_t>* line;
  std::uint64_t number;
  bool is_done() const { return line->load(std::memory_order_acquire) >= number; }
};

/// Keeps `memory`, which holds the counters, until all neighbors are done.
inline void orphan_until(std::shared_ptr<const void> memory, std::vector<Awaited> awaited) {
  std::erase_if(awaited, [](const Awaited& each) { return each.is_done(); });
  if (awaited.empty()) return;
  orphan_until(std::move(memory), [awaited = std::move(awaited)] {
    return std::ranges::all_of(awaited, [](const Awaited& each) { return each.is_done(); });
  });
}

}  // namespace parhelion
