// Memory still available on this node.
#pragma once

#include <string>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Bytes that this process can allocate before the node or a control group (version 1 or 2) around
/// it runs out; a huge number when neither has a limit. An estimate: other processes allocate too.
/// `system`: root of /proc and /sys. Local.
byte_count available_memory(const std::string& system = "/");

}  // namespace parhelion
