// Throws Error with concatenated parts.
#pragma once

#include "core/concat.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Error(concat(parts...));
}

}  // namespace parhelion
