// Reductions: those of the library and user-defined ones.
#pragma once

#include <cstring>
#include <utility>

#include "parhelion/core/element.hpp"

namespace parhelion {

class UserReduction;

/// Combines the values of one cell: contributions that a reverse exchange returns to its owner, or
/// values of a shared point. `replace` keeps the last one. A user-defined reduction (reduction_of)
/// must outlive its operations.
class Reduction {
 public:
  enum Kind : std::uint8_t { PHL_REDUCTIONS(PHL_CPP_NAME) user };  ///< core/kinds.h has the list

  constexpr Reduction(Kind kind) : kind_(kind) {}                          // NOLINT: implicit
  constexpr Reduction(const UserReduction& by) : kind_(user), by_(&by) {}  // NOLINT: implicit
  constexpr Kind kind() const { return kind_; }
  /// The user-defined reduction, else null.
  constexpr const UserReduction* by() const { return by_; }
  friend constexpr bool operator==(const Reduction&, const Reduction&) = default;

 private:
  Kind kind_;
  const UserReduction* by_ = nullptr;
};

/// An associative function on elements of one type. It need not commute: values are combined in
/// ascending order of rank, and within a rank in the order of its pattern.
class UserReduction {
 public:
  explicit UserReduction(Element element) : element_(element) {}
  virtual ~UserReduction() = default;
  UserReduction(const UserReduction&) = default;
  UserReduction& operator=(const UserReduction&) = default;

  const Element& element() const { return element_; }
  /// into = into ⊕ from for `bytes` of contiguous elements, possibly unaligned. Must not throw.
  virtual void combine(std::byte* into, const std::byte* from, byte_count bytes) const = 0;
  /// Whether calls are expensive: scattered elements are then packed before one call.
  virtual bool wants_many() const { return false; }
  /// Whether `combine` has failed since the operation began. The ranks that receive its values are
  /// told; for sums of points over seams, every rank.
  virtual bool has_failed() const { return false; }

 private:
  Element element_;
};

/// Result type of reduction_of.
template <class T, class Function>
class ElementReduction final : public UserReduction {
  static_assert(std::is_trivially_copyable_v<T> &&
                    std::is_invocable_r_v<T, const Function&, const T&, const T&>,
      "a reduction of T takes two T and gives one");

 public:
  explicit ElementReduction(Function function)
      : UserReduction(element_of<T>()), function_(std::move(function)) {}
  /// Element by element.
  void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
    for (byte_count i = 0; i < bytes; i += static_cast<byte_count>(sizeof(T))) {
      T a, b;
      std::memcpy(static_cast<void*>(&a), into + i, sizeof(T));
      std::memcpy(static_cast<void*>(&b), from + i, sizeof(T));
      a = function_(a, b);
      std::memcpy(into + i, &a, sizeof(T));
    }
  }

 private:
  Function function_;
};

/// The reduction `function(T, T) → T`. Local. Its use for fields of other elements throws Error.
///
///     const auto nearest = reduction_of<Hit>(
///         [](const Hit& a, const Hit& b) { return b.distance < a.distance ? b : a; });
///     exchange.reverse(nearest, view(domain, hits));
template <class T, class Function>
ElementReduction<T, Function> reduction_of(Function function) {
  return ElementReduction<T, Function>(std::move(function));
}

}  // namespace parhelion
