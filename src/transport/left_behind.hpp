// What an exchange that was given up leaves to MPI.
#pragma once

#include "core/left_behind.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// Keeps the node-shared memory of the plan's arrays until the process ends, for a send that cannot be taken back may read it at any
/// time. Other arrays belong to the caller alone.
inline void leave_arrays_behind(const Plan& plan) {
    for (std::byte* const base : plan.bases)
        if (auto place = find_node_shared(base)) leave_behind(std::move(place->keep));
}

}  // namespace parhelion
