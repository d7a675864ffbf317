#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "parhelion/core/error.hpp"

namespace parhelion {

template <class... Parts>
std::string concat(Parts... parts) {
  std::string all;
  const auto add = [&](const auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (std::convertible_to<Part, std::string_view> || std::same_as<Part, char>)
      all += part;
    else all += std::to_string(part);
  };
  (add(parts), ...);
  return all;
}

/// Throws Error with concatenated parts.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Error(concat(parts...));
}

}  // namespace parhelion
