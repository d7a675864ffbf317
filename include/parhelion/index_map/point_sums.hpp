// Sums of points that several ranks of a grid hold.
#pragma once

#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

/// For staggered fields: neighboring blocks both hold the plane of points between them. Each call
/// gives all holders of a point the sum of their values (forces on mesh nodes, fluxes through
/// faces), in one round of messages, added in ascending order of rank: the same bits for all. A
/// rank first adds up points that it holds twice: on both ends of a periodic dimension or in two
/// blocks. Layers around the points are not accessed. With seams, a point's first holder (by tile,
/// then coordinates, without land) adds the others' values to its own, in its own frame
/// (`Field::sign`, `vector`), and returns the sum: two rounds, for fields of any stagger, and for
/// cells on a center pivot's line.
///
/// Construction is collective. Fields of one grid and one stagger, also of different elements,
/// travel together; their arrays have equal extents and order. A call takes other arrays of those
/// layouts, or none for those of the construction. Errors: fields that are not staggered, or differ
/// in stagger or layout (on every rank); arrays of another layout, a reduction that elements do not
/// support (on the rank that passes them); a user-defined reduction that fails on points that a
/// rank holds twice (on all holders of that rank's points), or, over seams, on any (on every rank).
///
///     PointSums sums{domain,
///                    {view(domain, fx, {.stagger = 1}), view(domain, fy, {.stagger = 1})}};
///     sums();  // each step
class PointSums {
 public:
  PointSums(const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options = {});
  ~PointSums();
  PointSums(PointSums&&) noexcept;
  PointSums& operator=(PointSums&&) noexcept;

  void operator()(std::initializer_list<Field> arrays = {}) { reduce(Reduction::sum, arrays); }
  /// With another reduction; `replace` takes the highest rank's value (with seams, its first call
  /// is collective).
  void reduce(Reduction reduction, std::span<const Field> arrays);
  void reduce(Reduction reduction, std::initializer_list<Field> arrays = {}) {
    reduce(reduction, std::span<const Field>(arrays.begin(), arrays.size()));
  }
  /// Split: until the step ends, points that other ranks hold must not be written.
  [[nodiscard]] Step begin(Reduction reduction, std::span<const Field> arrays);
  [[nodiscard]] Step begin(
      Reduction reduction = Reduction::sum, std::initializer_list<Field> arrays = {}) {
    return begin(reduction, std::span<const Field>(arrays.begin(), arrays.size()));
  }
  void end();
  bool under_way() const;

  /// Human-readable: points, holders, transport. Local.
  std::string explain() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace parhelion
