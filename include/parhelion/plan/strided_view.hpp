// A pointer with strides for inner loops, like std::mdspan, but with negative or global indices for
// ghosts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parhelion {

/// Dimension along which elements are contiguous; lets compilers vectorize.
enum class Contiguity : std::uint8_t { last, first, none };

/// Element (i, j, …) of a strided array. Owns nothing; copies are cheap. Bounds are not checked:
/// `extent` covers the owned cells.
template <class T, std::size_t Rank, Contiguity Along = Contiguity::last>
class StridedView {
  static_assert(Rank > 0);

 public:
  using element_type = T;
  using index_type = std::int64_t;
  using Indices = std::array<index_type, Rank>;

  /// `first` is the element with indices `origin`. Strides in elements; 1 along a contiguous
  /// dimension.
  StridedView(T* first, const Indices& extents, const Indices& strides, const Indices& origin = {})
      : first_(first), extents_(extents), strides_(strides), origin_(origin) {
    for (std::size_t d = 0; d < Rank; ++d) before_ += origin[d] * stride(d);
  }

  template <class... Index>
    requires(sizeof...(Index) == Rank)
  T& operator()(Index... index) const {
    return (*this)[Indices{static_cast<index_type>(index)...}];
  }
  /// The element at these indices.
  T& operator[](const Indices& index) const {
    const auto place = [&]<std::size_t... d>(std::index_sequence<d...>) {
      return ((index[d] * stride(d)) + ... + -before_);
    };
    return first_[place(std::make_index_sequence<Rank>{})];
  }

  static constexpr std::size_t rank() { return Rank; }
  /// First index of the owned elements, and their number.
  index_type origin(std::size_t d) const { return origin_[d]; }
  index_type extent(std::size_t d) const { return extents_[d]; }
  index_type stride(std::size_t d) const {
    const bool contiguous =
        (Along == Contiguity::last && d == Rank - 1) || (Along == Contiguity::first && d == 0);
    return contiguous ? 1 : strides_[d];
  }
  /// Address of the first owned element.
  T* data_handle() const { return first_; }

 private:
  T* first_;
  Indices extents_, strides_, origin_;
  index_type before_ = 0;
};

}  // namespace parhelion
