// Reads the library's environment variables; docs/environment.md lists them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

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

}  // namespace parhelion
