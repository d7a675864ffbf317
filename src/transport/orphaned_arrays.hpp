#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
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

/// Keeps `memory`, which holds the counters, until all neighbors are done; `list` appends whom to
/// await. If memory runs out, forever: destructors call this.
template <class List>
void orphan_until_done(const std::shared_ptr<const void>& memory, List&& list) noexcept {
  try {
    std::vector<Awaited> awaited;
    list(awaited);
    std::erase_if(awaited, [](const Awaited& each) { return each.is_done(); });
    if (awaited.empty()) return;
    orphan_until(memory, [awaited = std::move(awaited)] {
      return std::ranges::all_of(awaited, [](const Awaited& each) { return each.is_done(); });
    });
  } catch (const std::bad_alloc&) {
    orphan(memory);
  }
}

}  // namespace parhelion
