// Views of any array with data, extents and strides.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "parhelion/core/error.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {
namespace detail {

template <class A>
concept HasHandle = requires(A& a) { a.data_handle(); };  // std::mdspan
template <class A>
concept HasExtent = requires(A& a) { a.extent(std::size_t{}); };  // std::mdspan, Kokkos::View
template <class A>
concept HasStride = requires(A& a) { a.stride(std::size_t{}); };
template <class A>
concept HasStrides = requires(A& a) {
  a.shape();
  a.strides()[std::size_t{}];
  a.shape()[std::size_t{}];
};  // xtensor
template <class A>
concept HasNumberedStrides = requires(A& a) { a.stride_4(); };  // Kokkos::View, from stride_0
template <class A>
concept IsMatrix = requires(A& a) {
  a.rows();
  a.cols();
  a.rowStride();
  a.colStride();
};  // Eigen::Matrix
template <class A>
concept IsTensor = requires(A& a) {
  a.dimensions()[std::size_t{}];
  A::NumDimensions;
  A::Layout;
};  // Eigen::Tensor

template <class A>
auto* first_of(A& a) {
  if constexpr (HasHandle<A>) return a.data_handle();
  else if constexpr (requires { a.data_offset(); })
    return a.data() + a.data_offset();  // xtensor views have an offset
  else return a.data();
}

template <class A>
std::size_t rank_of(A& a) {
  if constexpr (IsTensor<A>) return static_cast<std::size_t>(A::NumDimensions);
  else if constexpr (IsMatrix<A>) return 2;
  else if constexpr (HasStrides<A>)
    return static_cast<std::size_t>(
        a.shape().size());  // some xtensor types have an unrelated `rank`
  else if constexpr (requires {
                       { a.rank() } -> std::convertible_to<std::size_t>;
                     })
    return static_cast<std::size_t>(a.rank());
  else return static_cast<std::size_t>(A::rank);
}

template <class A>
global_index extent_of(A& a, std::size_t d) {
  if constexpr (IsTensor<A>) return static_cast<global_index>(a.dimensions()[d]);
  else if constexpr (IsMatrix<A>) return static_cast<global_index>(d == 0 ? a.rows() : a.cols());
  else if constexpr (HasExtent<A>) return static_cast<global_index>(a.extent(d));
  else return static_cast<global_index>(a.shape()[d]);
}

// In elements.
template <class A>
byte_count stride_of(A& a, std::size_t d) {
  if constexpr (IsTensor<A>) {
    constexpr bool columns_first = static_cast<int>(A::Layout) == 0;
    byte_count stride = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(A::NumDimensions); ++i)
      if (columns_first ? i < d : i > d) stride *= static_cast<byte_count>(a.dimensions()[i]);
    return stride;
  } else if constexpr (IsMatrix<A>) {
    return static_cast<byte_count>(d == 0 ? a.rowStride() : a.colStride());
  } else if constexpr (HasStride<A>) {
    return static_cast<byte_count>(a.stride(d));
  } else if constexpr (HasNumberedStrides<A>) {
    const auto all =
        std::array{a.stride_0(), a.stride_1(), a.stride_2(), a.stride_3(), a.stride_4()};
    return static_cast<byte_count>(all[d]);
  } else {
    return static_cast<byte_count>(a.strides()[d]);
  }
}

}  // namespace detail

/// Has data, extents and strides as in std::mdspan (data_handle(), extent(i), stride(i), rank()),
/// Kokkos::View, Eigen matrices and tensors, or xtensor.
template <class A>
concept ArrayLike =
    (detail::HasHandle<A> || requires(A& a) { a.data(); }) &&
    (detail::IsTensor<A> || detail::IsMatrix<A> ||
        (detail::HasExtent<A> && (detail::HasStride<A> || detail::HasNumberedStrides<A>)) ||
        detail::HasStrides<A>);

/// Shape of an array: at most 5 dimensions, components included.
struct ArrayShape {
  std::byte* first = nullptr;
  Element element;
  std::size_t rank = 0;
  std::array<global_index, max_dimensions + 1> extents{};
  std::array<byte_count, max_dimensions + 1> strides{};  ///< bytes
};

/// Shape of any array. Local. Throws Error for more than 5 dimensions.
template <ArrayLike A>
ArrayShape shape_of(A& array) {
  using T = std::remove_pointer_t<decltype(detail::first_of(array))>;
  static_assert(!std::is_const_v<T>, "an exchange writes ghosts: pass an array that is not const");
  ArrayShape shape{reinterpret_cast<std::byte*>(detail::first_of(array)), element_of<T>(),
      detail::rank_of(array), {}, {}};
  if (shape.rank > shape.extents.size())
    throw Error("an array of " + std::to_string(shape.rank) +
                " dimensions was passed: grids have at most 4, and one more for components");
  for (std::size_t d = 0; d < shape.rank; ++d) {
    shape.extents[d] = detail::extent_of(array, d);
    shape.strides[d] = detail::stride_of(array, d) * static_cast<byte_count>(sizeof(T));
  }
  return shape;
}

/// View of the array of a rank's only block: the domain's dimensions in order, optionally a last
/// one for components. Extents are owned + stagger + array_halo.lower + array_halo.upper. The array
/// determines strides and components, not `layout`. Local. Throws Error for other extents or
/// dimensions.
Field view_shape(const CartesianDomain& domain, const ArrayShape& array, ArrayLayout layout = {});
/// The same with one array per block. Also throws Error for another number of arrays, and if
/// elements or components differ.
Field view_shapes(
    const CartesianDomain& domain, std::span<const ArrayShape> arrays, ArrayLayout layout = {});
/// View of owned cells, then ghosts, along the first dimension, and components along the second. A
/// matrix with one row or column has one dimension. Local. Throws Error for other extents or
/// dimensions.
Field view_shape(const IndexedDomain& domain, const ArrayShape& array);

/// View of any ArrayLike. Owns nothing: the array must not move.
///
///     std::mdspan u(data, 66, 66);            // owned 64 × 64, halo 1
///     Exchange exchange{build_pattern(domain), {view(domain, u)}};
template <class A>
  requires ArrayLike<std::remove_reference_t<A>>
Field view(const CartesianDomain& domain, A&& array, const ArrayLayout& layout = {}) {
  return view_shape(domain, shape_of(array), layout);
}
template <class A>
  requires ArrayLike<std::remove_reference_t<A>>
Field view(const IndexedDomain& domain, A&& array) {
  return view_shape(domain, shape_of(array));
}

}  // namespace parhelion
