// The library's own environment variables: how they are read. Each is read where it is used;
// docs/environment.md names them all.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace parhelion {

/// Whether a variable is 1. Local.
inline bool is_on(const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr && std::string_view(text) == "1";
}

/// The whole number that a variable begins with, 0 where it does not; nothing where it is not set.
/// Local.
inline std::optional<std::int64_t> number_told(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? std::nullopt : std::optional<std::int64_t>(std::atoll(text));
}

}  // namespace parhelion
