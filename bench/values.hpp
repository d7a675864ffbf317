#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace parhelion::bench {

// The expected value of a cell is a function of global index, field, lane (component) and round, so
// that checks detect values of a wrong cell, field, component or earlier exchange.

/// Spreads 64 bits (the finalizer of SplitMix64; Steele, Lea & Flood, OOPSLA 2014).
constexpr std::uint64_t spread(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

/// One key per lane of a cell, for a field and a round.
inline std::vector<std::uint64_t> lane_keys(int field, int lanes, unsigned round) {
  std::vector<std::uint64_t> keys;
  for (int lane = 0; lane < lanes; ++lane)
    keys.push_back(spread(spread(spread(round) + static_cast<std::uint64_t>(field)) +
                          static_cast<std::uint64_t>(lane)));
  return keys;
}

/// Value of a ghost before an exchange: a marked NaN, or the smallest integer (largest if
/// unsigned).
template <class T>
constexpr T poison() {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(0x7FC0DEADu);
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(0x7FF8DEADDEADDEADu);
  else if constexpr (std::is_signed_v<T>) return std::numeric_limits<T>::min();
  else return std::numeric_limits<T>::max();
}

/// The leading bits of `bits` as an exact value of T, never poison.
template <class T>
constexpr T exact_value(std::uint64_t bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(bits >> (64 - std::numeric_limits<T>::digits));
  } else {
    T value = static_cast<T>(bits >> (64 - 8 * sizeof(T)));
    return value == poison<T>() ? T{1} : value;
  }
}

/// Calls `visit(T& element, T expected)` for `cells` contiguous cells with ids from `first_id`.
template <class T, class Visit>
void for_each_value(T* cells_begin, std::int64_t cells, std::uint64_t first_id,
    const std::vector<std::uint64_t>& keys, Visit&& visit) {
  constexpr std::uint64_t id_step =
      0x9E3779B97F4A7C15u;  // odd: distinct ids give distinct products
  const auto lanes = static_cast<std::int64_t>(keys.size());
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::uint64_t bits = first_id * id_step + keys[static_cast<std::size_t>(lane)];
    for (std::int64_t cell = 0; cell < cells; ++cell, bits += id_step)
      visit(cells_begin[cell * lanes + lane], exact_value<T>(bits));
  }
}

/// Compares bits, so that equal NaNs are equal.
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;  // NOLINT(bugprone-suspicious-memory-comparison)
}

template <class T>
void write_values(T* cells_begin, std::int64_t cells, std::uint64_t first_id,
    const std::vector<std::uint64_t>& keys) {
  for_each_value(
      cells_begin, cells, first_id, keys, [](T& element, T expected) { element = expected; });
}

template <class T>
std::int64_t count_wrong_values(const T* cells_begin, std::int64_t cells, std::uint64_t first_id,
    const std::vector<std::uint64_t>& keys) {
  std::int64_t wrong = 0;
  for_each_value(cells_begin, cells, first_id, keys,
      [&](const T& element, T expected) { wrong += !same_bits(element, expected); });
  return wrong;
}

template <class T>
void write_poison(T* elements, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) elements[i] = poison<T>();
}

template <class T>
std::int64_t count_not_poison(const T* elements, std::int64_t count) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) wrong += !same_bits(elements[i], poison<T>());
  return wrong;
}

}  // namespace parhelion::bench
