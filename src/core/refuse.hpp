// Throws errors whose messages consist of several parts.
#pragma once

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

/// Throws Error with the parts, one after another.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Error(concat(parts...));
}

}  // namespace parhelion
