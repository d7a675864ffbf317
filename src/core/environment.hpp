// Environment variables; docs/environment.md lists them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// Local.
inline bool is_on(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && std::string_view(text) == "1";
}

/// The leading integer, 0 without one, nullopt when unset. Local.
inline std::optional<std::int64_t> number_told(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<std::int64_t>(std::atoll(text));
}

/// Number of messages that carry a node's `bytes` to another node: PARHELION_NODE_MESSAGES, else
/// one per 64 KiB (packing worth a message); from 1 to `contributors`.
inline std::int64_t node_messages(byte_count bytes, std::int64_t contributors) {
  static const auto variable = number_told("PARHELION_NODE_MESSAGES");
  const std::int64_t told = variable ? std::max<std::int64_t>(*variable, 1) : 0;
  return std::min(told > 0 ? told : std::max<byte_count>(bytes >> 16, 1), contributors);
}

}  // namespace parhelion
