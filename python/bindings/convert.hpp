// Small values between C++ and Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "parhelion/domain/box.hpp"

namespace parhelion::python {

/// Sides that are not given have no halo.
inline HaloWidth halo_from(const std::vector<int>& lower, const std::vector<int>& upper) {
    HaloWidth width(0);
    std::copy_n(lower.begin(), std::min<std::size_t>(lower.size(), max_dimensions), width.lower.begin());
    std::copy_n(upper.begin(), std::min<std::size_t>(upper.size(), max_dimensions), width.upper.begin());
    return width;
}

inline Stagger stagger_from(const std::vector<int>& along) {
    Stagger stagger;
    for (std::size_t d = 0; d < std::min<std::size_t>(along.size(), max_dimensions); ++d)
        stagger.along[d] = static_cast<std::int16_t>(std::clamp(along[d], -1, 1000));  // what is wrong stays wrong
    return stagger;
}

/// ((first, …), (past the end, …))
inline nanobind::tuple box_to_python(const Box& box, int dimensions) {
    nanobind::list lo, hi;
    for (int d = 0; d < dimensions; ++d) {
        lo.append(box.lo[d]);
        hi.append(box.hi[d]);
    }
    return nanobind::make_tuple(nanobind::tuple(lo), nanobind::tuple(hi));
}

/// ((lower, upper), …) per dimension
inline nanobind::tuple halo_to_python(const HaloWidth& halo, int dimensions) {
    nanobind::list sides;
    for (int d = 0; d < dimensions; ++d) sides.append(nanobind::make_tuple(halo.lower[d], halo.upper[d]));
    return nanobind::tuple(sides);
}

template <class T>
using NumpyVector = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>, nanobind::c_contig>;

/// A NumPy array that owns the vector.
template <class T>
NumpyVector<T> to_numpy(std::vector<T> values) {
    auto* holder = new std::vector<T>(std::move(values));
    nanobind::capsule owner(holder, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return NumpyVector<T>(holder->data(), {holder->size()}, owner);
}

/// Ids as they come from Python: contiguous, read only, not kept.
using Ids = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

inline std::vector<global_index> to_vector(const Ids& ids) { return {ids.data(), ids.data() + ids.size()}; }

}  // namespace parhelion::python
