// Environment variables; docs/environment.md lists them.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "core/concat.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// Empty when unset. Local.
inline std::string text_told(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// Local.
inline bool is_on(const char* variable) { return text_told(variable) == "1"; }

/// The library named by the variable, else the first of `names` that loads; null: none, or "none".
inline void* open_library(const char* variable, std::initializer_list<const char*> names) {
  const std::string chosen = text_told(variable);
  if (chosen == "none") return nullptr;
  if (!chosen.empty()) return dlopen(chosen.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

/// From 0 on; nullopt when unset or empty. Local. Throws Error for other text, as a communicator's
/// first call does on every rank.
inline std::optional<std::int64_t> number_told(const char* variable) {
  const char* told = std::getenv(variable);
  const std::string_view text(told != nullptr ? told : "");
  if (text.empty()) return std::nullopt;
  std::int64_t number = -1;
  const char* const end = std::from_chars(told, told + text.size(), number).ptr;
  if (number < 0 || *end != '\0')
    refuse(variable, " is '", text, "': use a whole number, such as 2, or unset it");
  return number;
}

/// Number of messages that carry a node's `bytes` to another node: PARHELION_NODE_MESSAGES, else
/// one per 64 KiB (packing worth a message); from 1 to `contributors`.
inline std::int64_t node_messages(byte_count bytes, std::int64_t contributors) {
  static const auto told = number_told("PARHELION_NODE_MESSAGES").value_or(0);
  return std::min(told > 0 ? told : std::max<byte_count>(bytes >> 16, 1), contributors);
}

}  // namespace parhelion
