// Sums of the points that several ranks of a grid hold.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

/// Staggered fields have the planes of points between two blocks on both of them. Where each rank's
/// values are what its own cells give (forces on the nodes of a mesh, fluxes through faces), all
/// that hold a point get their sum, in one round of messages, added in ascending order of rank, so
/// that all have the same bits. Points that a rank holds twice, on both ends of a periodic
/// dimension or in two of its blocks, are added up on it first. Layers around the points are
/// neither read nor written. In a grid with seams a point's first holder, by tile, then by
/// coordinates, adds up what all have in its own frame (`Field::sign`, `vector`) and gives them the
/// sum: two rounds, of fields of any stagger, and of cells on the line of a center pivot. With a
/// mask the first holder that has a rank does so.
///
/// Construction is collective. Fields of one grid and one stagger, of different elements if need
/// be, travel together; their arrays have equal extents and order. A call takes other arrays of
/// those layouts, or none for those of the construction. Errors: fields of another stagger or
/// layout than the first, or not staggered (on every rank); arrays of another layout, a reduction
/// that elements do not have (of the rank that passes them); a reduction that has failed where a
/// rank added up points that it has twice (of all ranks that hold one of its points).
///
///     PointSums sums{domain, {view(domain, fx, {.stagger = 1}), view(domain, fy, {.stagger =
///     1})}}; sums();                                  // each step
class PointSums {
public:
    PointSums(const CartesianDomain& domain, std::vector<Field> fields,
              ExchangeOptions options = {});
    ~PointSums();
    PointSums(PointSums&&) noexcept;
    PointSums& operator=(PointSums&&) noexcept;

    void operator()(std::initializer_list<Field> arrays = {}) { reduce(Reduction::sum, arrays); }
    /// With another reduction; `replace` gives the value of the last rank that holds a point.
    void reduce(Reduction reduction, std::span<const Field> arrays);
    void reduce(Reduction reduction, std::initializer_list<Field> arrays = {}) {
        reduce(reduction, std::span<const Field>(arrays.begin(), arrays.size()));
    }
    /// In two halves: points that others hold must not be written before the step ends, all others
    /// may.
    [[nodiscard]] Step begin(Reduction reduction, std::span<const Field> arrays);
    [[nodiscard]] Step begin(Reduction reduction = Reduction::sum,
                             std::initializer_list<Field> arrays = {}) {
        return begin(reduction, std::span<const Field>(arrays.begin(), arrays.size()));
    }
    void end();
    bool under_way() const;

    /// Points, holders, and what moves them. For people; local.
    std::string explain() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace parhelion
