// Number of messages to another node when a node's messages to it are collected.
#pragma once

#include <cstdint>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// One per 64 KiB and at least 1, or PARHELION_NODE_MESSAGES; at most one per contributing rank.
std::int64_t node_messages(byte_count bytes, std::int64_t contributors);

}  // namespace parhelion
