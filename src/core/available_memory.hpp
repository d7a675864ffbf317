// How much memory can still be taken on this node.
#pragma once

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Bytes that this process could take before the kernel, or the limit of its container (cgroup 1 or 2), has none left;
/// a very large number where neither tells. An estimate: other processes take memory too. Local.
byte_count available_memory();

}  // namespace parhelion
