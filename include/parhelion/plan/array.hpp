// Arrays for the values of a domain, in node-shared memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/checked.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/plan/field.hpp"
#include "parhelion/plan/strided_view.hpp"

namespace parhelion {

/// One zeroed array per block, halo included. Owns its memory; copies share it.
///
///     auto u = make_array<float>(domain);
///     u(i, j, k) = 1;                      // global coordinates, also of ghosts
template <class T>
class Array {
 public:
  Array(const CartesianDomain& domain, const ArrayLayout& layout)
      : dimensions_(domain.dimensions()) {
    std::vector<std::byte*> starts;
    for (int b = 0; b < static_cast<int>(domain.blocks().size()); ++b) {
      byte_count bytes = static_cast<byte_count>(sizeof(T)) * layout.components;
      for (global_index extent : array_extents(domain, layout, b))
        bytes = checked_product({bytes, extent}, "the size of an array");
      memory_.push_back(allocate_node_shared(bytes));
      boxes_.push_back(domain.blocks()[b].held);
      for (int d = 0; d < dimensions_; ++d) boxes_.back().hi[d] += layout.stagger.more(d);
      starts.push_back(memory_.back().get());
    }
    field_ = view_blocks(domain, starts, element_of<T>(), layout);
    for (int b = 0; b < static_cast<int>(boxes_.size()); ++b)
      firsts_.push_back(first_of(domain, field_, b));
  }

  /// First element in memory (a ghost, if there is a halo), and the view of all blocks.
  T* data(int block = 0) { return reinterpret_cast<T*>(memory_[block].get()); }
  const Field& field() const { return field_; }

  /// Component of a cell, by global coordinates. Bounds are not checked.
  T& at(const Coordinates& cell, int component = 0, int block = 0) {
    const auto b = static_cast<std::size_t>(block);
    std::byte* place = field_.blocks[b].first + component * field_.stride_of_components(b);
    for (int d = 0; d < dimensions_; ++d)
      place += (cell[d] - firsts_[b][d]) * field_.blocks[b].strides[d];
    return *reinterpret_cast<T*>(place);
  }
  template <class... Index>
  T& operator()(Index... index) {
    return at({static_cast<global_index>(index)...});
  }

  /// Indexed access for inner loops; compiles to plain pointer arithmetic. Local.
  ///
  ///     auto v = u.values<3>();
  ///     for (…) v(i, j, k) = 1;       // 0: first owned cell; ghosts from −halo
  ///
  /// `Rank`: the number of dimensions, or one more for components as the last index. Throws Error
  /// for another rank, or unless elements are contiguous along `Along` (Order::c: last,
  /// Order::fortran: first; components count as a dimension).
  template <std::size_t Rank, Contiguity Along = Contiguity::last>
  StridedView<T, Rank, Along> values(int block = 0) {
    return indexed_from<Rank, Along>({}, block);
  }
  /// Like values(), indexed by global coordinates.
  template <std::size_t Rank, Contiguity Along = Contiguity::last>
  StridedView<T, Rank, Along> global_values(int block = 0) {
    return indexed_from<Rank, Along>(boxes_.at(block).lo, block);
  }

 private:
  template <std::size_t Rank, Contiguity Along>
  StridedView<T, Rank, Along> indexed_from(const Coordinates& first, int block) {
    const auto dims = static_cast<std::size_t>(dimensions_), b = static_cast<std::size_t>(block);
    if (Rank != dims && Rank != dims + 1)
      throw Error("an array of " + std::to_string(dims) + " dimensions has no values<" +
                  std::to_string(Rank) +
                  ">: use one index per dimension, and one more for components");
    const BlockView& view = field_.blocks.at(b);
    typename StridedView<T, Rank>::Indices extents{}, strides{}, origin{};
    for (std::size_t d = 0; d < Rank; ++d) {
      const bool cells = d < dims;
      extents[d] = cells ? boxes_[b].extent(static_cast<int>(d)) : field_.components;
      strides[d] = (cells ? view.strides[d] : field_.stride_of_components(b)) /
                   static_cast<byte_count>(sizeof(T));
      origin[d] = cells ? first[d] : 0;
    }
    if (const std::size_t d = Along == Contiguity::first ? 0 : Rank - 1;
        Along != Contiguity::none && strides[d] != 1)
      throw Error("values of this array lie " + std::to_string(strides[d]) +
                  " apart in dimension " + std::to_string(d) +
                  ": name another Contiguity, or one more dimension for components");
    std::byte* held = view.first;
    for (std::size_t d = 0; d < dims; ++d)
      held += (boxes_[b].lo[d] - firsts_[b][d]) * view.strides[d];
    return {reinterpret_cast<T*>(held), extents, strides, origin};
  }

  int dimensions_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<Box> boxes_;           // without halo
  std::vector<Coordinates> firsts_;  // BlockView::first of each block
  Field field_;
};

/// Zeroed array in node-shared memory, by default with the domain's halo. Local. Throws Error if
/// memory is insufficient.
///
///     auto u = make_array<double>(domain, {.stagger = {1, 0}, .array_halo = 2, .depth = 1});
template <class T>
Array<T> make_array(const CartesianDomain& domain, const ArrayLayout& layout = {}) {
  return {domain, layout};
}

/// View of an array made by make_array. Local.
template <class T>
const Field& view(const Array<T>& array) {
  return array.field();
}

}  // namespace parhelion
