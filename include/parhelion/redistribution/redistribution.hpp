// Redistribution of owned values between two domains of the same cells.
#pragma once

#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

/// One array of each domain.
struct Move {
  Field from, to;
};

/// Moves owned values between two domains of the same cells on one communicator. Ghosts are neither
/// read nor written. Cells of index maps correspond by global id.
///
/// Construction is collective. A call takes any number of pairs of arrays, also of different
/// elements, and sends one message to each rank that receives cells. The first call with a given
/// total size per cell (grids) or given elements (index maps) is collective; later ones wait only
/// for ranks that exchange cells with this one. Every rank makes the same calls in the same order.
/// Throws Error for: domains of other cells or communicators (on every rank); arrays of another
/// domain, pairs of different elements or components, or an array that is written and overlaps
/// another (on every rank in the very first call, later on the rank that passes them).
///
///     Redistribution redistribute{rows, columns};
///     redistribute(view(rows, u), view(columns, v));       // and back:
///     redistribute.back({{view(rows, u), view(columns, v)}})
///
/// With `axes`, axis d of the second grid is axis `axes[d]` of the first: the transposes of a
/// pencil FFT, with the undistributed axis fastest. Throws Error on every rank if `axes` is no
/// permutation or differs between ranks, or if the extents do not match in that order.
///
///     CartesianDomain x({nz, ny, nx}, {.process_grid = {p, q, 1}}), y({nx, nz, ny}, …);
///     Redistribution to_y(x, y, {}, {2, 0, 1});
class Redistribution {
 public:
  Redistribution(const CartesianDomain& from, const CartesianDomain& to,
      ExchangeOptions options = {}, std::vector<int> axes = {});
  Redistribution(const IndexedDomain& from, const IndexedDomain& to, ExchangeOptions options = {});
  ~Redistribution();
  Redistribution(Redistribution&&) noexcept;
  Redistribution& operator=(Redistribution&&) noexcept;

  /// `from` → `to`.
  void operator()(const Field& from, const Field& to) { forward({{from, to}}); }
  void forward(std::span<const Move> arrays);
  void forward(std::initializer_list<Move> arrays) {
    forward(std::span<const Move>(arrays.begin(), arrays.size()));
  }
  /// `to` → `from`.
  void back(std::span<const Move> arrays);
  void back(std::initializer_list<Move> arrays) {
    back(std::span<const Move>(arrays.begin(), arrays.size()));
  }

  /// Collective. Does the set-up of the first call with such arrays, once.
  void prepare(std::span<const Move> arrays);
  void prepare(std::initializer_list<Move> arrays) {
    prepare(std::span<const Move>(arrays.begin(), arrays.size()));
  }

  /// Human-readable messages and sizes. Local.
  std::string explain() const;

  class Mover;

 private:
  std::unique_ptr<Mover> mover_;
};

}  // namespace parhelion
