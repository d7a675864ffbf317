// A box of cells in global coordinates, and the width of a halo around it.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// A cell of the whole grid; 0 in dimensions that are not there.
using Coordinates = std::array<global_index, max_dimensions>;

/// Cells lo ≤ x < hi in every dimension; unused dimensions are [0, 1).
struct Box {
    Coordinates lo{0, 0, 0, 0};
    Coordinates hi{1, 1, 1, 1};

    /// Cells along a dimension; 0 where there are none.
    global_index extent(int d) const { return std::max<global_index>(0, hi[d] - lo[d]); }
    global_index cells() const { return extent(0) * extent(1) * extent(2) * extent(3); }
    bool empty() const { return cells() == 0; }
    friend bool operator==(const Box&, const Box&) = default;
};

/// One value for all dimensions or the first ones of `values`. Returns how many a list named, 0 for
/// all.
template <class T>
int fill_per_dimension(std::array<T, max_dimensions>& values, std::initializer_list<T> listed) {
    if (listed.size() == 1) values.fill(*listed.begin());
    else
        std::copy_n(listed.begin(), std::min<std::size_t>(listed.size(), max_dimensions),
                    values.begin());
    return listed.size() == 1 ? 0 : static_cast<int>(listed.size());
}

/// Throws Error where a list named another number of dimensions.
void require_dimensions(int listed, int dimensions, std::string_view what);

/// Halo width in cells, per dimension and side:
///
///            lower[0]  owned cells  upper[0]
///          ├─────────┼────────────┼─────────┤   → dimension 0
///
/// One number, in braces or not, means that width on every side; one number per dimension means
/// both sides of it. A list of another length than the domain's dimensions is refused where it
/// meets the domain.
struct HaloWidth {
    std::array<int, max_dimensions> lower{};
    std::array<int, max_dimensions> upper{};
    int listed = 0;  ///< dimensions that a list named; 0: all

    HaloWidth() = default;
    HaloWidth(int width) {
        lower.fill(width), upper.fill(width);
    }  // NOLINT: `.halo = 2` is how one says it
    HaloWidth(std::initializer_list<int> per_dimension) {
        listed = fill_per_dimension(lower, per_dimension);
        upper = lower;
    }
    HaloWidth(std::array<int, max_dimensions> lower_, std::array<int, max_dimensions> upper_)
        : lower(lower_), upper(upper_) {}
    friend bool operator==(const HaloWidth& a, const HaloWidth& b) {
        return a.lower == b.lower && a.upper == b.upper;
    }
};

/// In which dimensions a field lives on points instead of cells. 1: point i is the lower face of
/// cell i, so n cells have n + 1 points; faces have 1 in one dimension, edges and vertices in
/// several.
///
/// −1: point i is the upper face of cell i, so n cells have n points (NEMO, CICE, MOM6 without
/// symmetric memory). Such fields travel as cells do; seams alone tell them apart.
///
///     Stagger faces_across_x = {1, 0, 0}, vertices = 1, upper_vertices = -1;
struct Stagger {
    std::array<std::int16_t, max_dimensions> along{};
    int listed = 0;  ///< dimensions that a list named; 0: all

    Stagger() = default;
    Stagger(int everywhere) { along.fill(kept(everywhere)); }  // NOLINT: `.stagger = 1`
    Stagger(std::initializer_list<int> per_dimension) {
        std::array<int, max_dimensions> values{};
        listed = fill_per_dimension(values, per_dimension);
        std::transform(values.begin(), values.end(), along.begin(), kept);
    }
    /// Points that there are more than cells.
    int more(int d) const { return std::max<int>(along[d], 0); }
    friend bool operator==(const Stagger& a, const Stagger& b) { return a.along == b.along; }

private:
    static std::int16_t kept(int value) {
        return static_cast<std::int16_t>(std::clamp(value, -2, 1000));
    }  // what is wrong stays wrong
};

/// Throws Error for values other than −1, 0 and 1, and for a list of another length.
void require_stagger(const Stagger& stagger, int dimensions);

/// The cells that both have, those of a box with a halo around it, and a box elsewhere.
Box intersect(const Box& a, const Box& b);
Box grow(const Box& box, const HaloWidth& width, int dimensions);
Box translate(Box box, const Coordinates& shift);

/// "[0, 64) × [0, 64)"
std::string to_string(const Box& box, int dimensions);

}  // namespace parhelion
