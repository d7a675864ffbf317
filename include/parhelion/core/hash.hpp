// Hashes that detect differences.
#pragma once

#include <cstdint>
#include <type_traits>

namespace parhelion {

/// FNV-1a (Fowler, Noll, Vo) over 64-bit words. Each step folds the upper half down: multiplication
/// carries only upwards. No protection against adversaries.
class Hash {
 public:
  /// Adds a number or enumerator; the order matters.
  template <class T>
  Hash& add(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    value_ = (value_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3ull;
    value_ ^= value_ >> 32;
    return *this;
  }
  /// Adds the number of values, then each.
  template <class Range>
  Hash& add_range(const Range& range) {
    add(range.size());
    for (const auto& value : range) add(value);
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ull;
};

}  // namespace parhelion
