// What an exchange leaves to those that still use it when it goes: MPI, and neighbors that are
// late.
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

/// Keeps the node-shared memory of the arrays until the process ends, for a send that cannot be
/// taken back may read it at any time. Other arrays belong to the caller alone.
inline void orphan_arrays(const BoundArrays& arrays) {
    for (std::size_t b = 0; b < arrays.size(); ++b)
        if (auto place = find_node_shared(arrays.bases()[b])) orphan(std::move(place->keep));
}

/// A neighbor is done when the number that it writes has come so far.
struct Awaited {
    const std::atomic<std::uint64_t>* line;
    std::uint64_t number;
    bool is_done() const { return line->load(std::memory_order_acquire) >= number; }
};

/// Keeps `memory`, in which the lines lie, until all neighbors are done; not at all where they are.
inline void orphan_until(std::shared_ptr<const void> memory, std::vector<Awaited> awaited) {
    std::erase_if(awaited, [](const Awaited& each) { return each.is_done(); });
    if (awaited.empty()) return;
    orphan_until(std::move(memory), [awaited = std::move(awaited)] {
        return std::all_of(awaited.begin(), awaited.end(),
                           [](const Awaited& each) { return each.is_done(); });
    });
}

}  // namespace parhelion
