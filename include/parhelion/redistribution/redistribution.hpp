// Owned values from one domain to another of the same cells.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

/// An array of each of the two domains.
struct Move {
    Field from, to;
};

/// Moves owned values between two domains of the same cells on one communicator: to another process
/// grid or other splits, another partition, more or fewer ranks that own something. Ghosts are
/// neither read nor written. Of index maps cells are those of equal global id.
///
/// Construction is collective. A call takes any number of pairs of arrays, of different elements if
/// need be, and sends one message from each rank to each that gets cells of it. The first call with
/// cells of as many bytes in all (grids), or of these elements (index maps), is collective; others
/// wait for those that a rank gets cells from, or gives cells to. Every rank makes the same calls
/// in the same order. Errors: domains of other cells or communicators (on every rank); arrays of
/// another domain, or pairs of different elements or components (on every rank at the first call of
/// all, later on the rank that passes them).
///
///     Redistribution redistribute{rows, columns};
///     redistribute(view(rows, u), view(columns, v));       // and back:
///     redistribute.back({{view(rows, u), view(columns, v)}})
///
/// With `axes`, axis d of the second grid is axis `axes[d]` of the first one: the transposes of an
/// FFT, whose pencils keep the axis along which they are whole fastest. Errors (on every rank):
/// axes that are no permutation, or differ; extents that are not those of the first grid in that
/// order.
///
///     CartesianDomain x({nz, ny, nx}, {.process_grid = {p, q, 1}}), y({nx, nz, ny}, …);
///     Redistribution to_y(x, y, {}, {2, 0, 1});
class Redistribution {
public:
    Redistribution(const CartesianDomain& from, const CartesianDomain& to,
                   ExchangeOptions options = {}, std::vector<int> axes = {});
    Redistribution(const IndexedDomain& from, const IndexedDomain& to,
                   ExchangeOptions options = {});
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

    /// Collective: what the first call with such arrays would do. Nothing where that is done.
    void prepare(std::span<const Move> arrays);
    void prepare(std::initializer_list<Move> arrays) {
        prepare(std::span<const Move>(arrays.begin(), arrays.size()));
    }

    /// What moves how much to whom. For people; local.
    std::string explain() const;

    class Mover;

private:
    std::unique_ptr<Mover> mover_;
};

}  // namespace parhelion
