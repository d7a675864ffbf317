// Overflow-checked products and sums of user-supplied sizes.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "parhelion/core/error.hpp"

namespace parhelion {

/// Throws Error: `what` exceeds 2^63 − 1.
[[noreturn]] inline void refuse_overflow(const std::string& what) {
  throw Error(what + " exceeds 2^63 - 1: give smaller sizes, or use more ranks");
}

/// Throws Error, naming `what`, on overflow.
inline std::int64_t checked_product(std::initializer_list<std::int64_t> factors, const char* what) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors)
    if (__builtin_mul_overflow(product, factor, &product)) refuse_overflow(what);
  return product;
}

/// a + b. Throws Error, naming `what`, on overflow.
inline std::int64_t checked_sum(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) refuse_overflow(what);
  return sum;
}

}  // namespace parhelion
