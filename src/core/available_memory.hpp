// How much memory can still be taken on this node.
#pragma once

#include <string>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Bytes that this process could take before the kernel, or the limit of its control group or of
/// one around it (version 1 or 2), has none left; a very large number where neither tells. An
/// estimate: other processes take memory too. `system` is where /proc and /sys are. Local.
byte_count available_memory(const std::string& system = "/");

}  // namespace parhelion
