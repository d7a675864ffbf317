// A compact order of the points of a box: coordinates ↔ position without a table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parhelion/placement/process_grid.hpp"

namespace parhelion::placement {

/// A total order of the points of a box, kept as a tree in which equal parts are shared.
///
/// A leaf runs through its box dimension by dimension, straight or to and fro. An inner vertex cuts its box along one
/// dimension into runs of equal slabs, and orders slab after slab, each by its own order, possibly mirrored. Memory
/// follows the number of different slabs, not the number of points; both directions cost O(depth). Immutable; copies
/// share.
class Order {
public:
    using Mirror = std::uint8_t;  ///< bit d: dimension d is passed backwards

    struct Part;

    /// Point after point, the dimensions named in `fastest_first` (the others follow, last first). With `to_and_fro`
    /// each dimension turns round instead of jumping back, so that successive points are neighbors.
    static Order path(const Coords& box, const std::vector<int>& fastest_first, bool to_and_fro);

    /// Slab after slab along `dimension`. The parts' boxes must agree in all other dimensions.
    static Order slabs(int dimension, const std::vector<Part>& parts);

    const Coords& box() const;
    int size() const;
    /// Place of a point in the order, and the point at a place.
    int position(Coords point) const;
    Coords point(int position) const;

    /// Different vertices of the tree: what its memory is proportional to.
    int vertices() const;

    /// Plain numbers, for sending to other ranks.
    std::vector<std::int32_t> pack() const;
    static Order unpack(std::span<const std::int32_t> words);

private:
    struct Vertex;
    explicit Order(std::shared_ptr<const Vertex> root) : root_(std::move(root)) {}
    std::shared_ptr<const Vertex> root_;
};

/// Slabs of one kind. Each of the `count` slabs has `order`'s box; the k-th is mirrored by `mirror`, and by `alternate`
/// too when k is odd.
struct Order::Part {
    int count;
    Order order;
    Mirror mirror = 0;
    Mirror alternate = 0;
};

}  // namespace parhelion::placement
