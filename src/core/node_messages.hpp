// How many messages go to another node where what a node owes it is collected.
#pragma once

#include <cstdint>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// One per 64 KB, one at least, no more than there are ranks that have something to send.
/// PARHELION_NODE_MESSAGES: at most so many.
std::int64_t node_messages(byte_count bytes, std::int64_t contributors);

}  // namespace parhelion
