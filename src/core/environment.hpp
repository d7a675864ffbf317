// Reads the library's environment variables; docs/environment.md lists them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Whether a variable is "1". Local.
inline bool is_on(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && std::string_view(text) == "1";
}

/// The leading integer of a variable, 0 without one, nullopt when unset. Local.
inline std::optional<std::int64_t> number_told(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<std::int64_t>(std::atoll(text));
}

/// Number of messages to another node when a node's messages to it are collected: one per 64 KiB,
/// the share of packing that is worth a message, and at least 1, or PARHELION_NODE_MESSAGES; at
/// most one per contributing rank.
inline std::int64_t node_messages(byte_count bytes, std::int64_t contributors) {
  static const auto variable = number_told("PARHELION_NODE_MESSAGES");
  const std::int64_t told = variable ? std::max<std::int64_t>(*variable, 1) : 0;
  return std::min(told > 0 ? told : std::max<byte_count>(bytes >> 16, 1), contributors);
}

}  // namespace parhelion
