// Fields: non-owning views of the values of a domain.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/core/short_list.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion {

/// C: last dimension contiguous, components last. Fortran: first dimension contiguous, components
/// slowest.
enum class Order : std::uint8_t { c, fortran };

/// Memory space of arrays: one per exchange, and one device per rank.
enum class MemorySpace : std::uint8_t { host, device };
const char* to_string(MemorySpace space);
/// Number of the CUDA device that owns this memory; −1: host memory, null pointers. The CUDA driver
/// decides for managed memory. Local.
int device_of(const void* pointer);

/// Vector numbers are 1 to this.
constexpr int largest_vector = 32767;

/// Width not specified: the domain's.
constexpr int as_domain = -1;

/// Memory layout of one block. Strides in bytes, one per dimension (indexed: only the first).
struct BlockView {
  std::byte* first = nullptr;  ///< first owned cell or point, owned layers beyond an end
                               ///< included; indexed: first owned cell or ghost
  std::array<byte_count, max_dimensions> strides{};
  byte_count component_stride = 0;  ///< between components; 0: the field's
};

/// One field: element type and memory layout. Owns nothing: the arrays must outlive every exchange
/// that uses the view, and must not move.
struct Field {
  Element element;
  int components = 1;
  byte_count component_stride = 0;  ///< between components
  HaloWidth halo = 0;  ///< structured: depth, at most the pattern's; equal on all ranks
  bool indexed = false;
  ShortList<BlockView, 2> blocks;         ///< one per block; indexed: owned cells, ghosts
  MemorySpace space = MemorySpace::host;  ///< equal on all ranks; detected if there are arrays
  Stagger stagger = {};                   ///< dimensions with values on points; equal on all ranks
  Boundary boundary = Boundary::open;     ///< of the domain
  HaloWidth array_halo = as_domain;       ///< layers in memory, ≥ the depth; as_domain: unknown
  std::int8_t sign = 1;     ///< −1: changes sign beyond mirroring seams; equal on all ranks
  std::int8_t along = 0;    ///< axis of this vector component
  std::int16_t vector = 0;  ///< equal numbers form a vector; 0: scalar; equal on all ranks
  Neighbors neighbors = Neighbors::full;  ///< set only by subsets (`Only`)

  /// Bytes between the components of a cell of this block.
  byte_count stride_of_components(std::size_t block) const {
    return blocks[block].component_stride != 0 ? blocks[block].component_stride : component_stride;
  }
};

/// Memory layout of an array, its stagger and its exchanged depth.
///
///     view(domain, pointer, {.stagger = {1, 0}, .array_halo = 2, .depth = 1})
///
/// On every rank, an array has owned cells + stagger + array_halo.lower + array_halo.upper values
/// per dimension. An exchange fills `depth` layers beyond the cells or points, and the boundary
/// point that the next block owns.
struct ArrayLayout {
  Order order = Order::c;
  int components = 1;
  Stagger stagger = {};
  HaloWidth array_halo = as_domain;  ///< as_domain: the domain's halo
  HaloWidth depth = as_domain;       ///< as_domain: min(domain's, array's halo). Equal on all ranks
  int sign = 1;    ///< −1: changes sign beyond a seam that mirrors an axis, as vectors do at a
                   ///< fold. Equal on all ranks
  int vector = 0;  ///< fields with equal nonzero numbers form a vector along the axes `along`: a
                   ///< seam that rotates axes permutes them and their signs. Equal on all ranks
  int along = 0;
};

/// Extents of an array of one block with its halo: owned + stagger + lower + upper per dimension.
/// Bytes: their product times components times element size. Throws Error unless lists of widths
/// have one entry per dimension.
std::vector<global_index> array_extents(
    const CartesianDomain& domain, const ArrayLayout& layout = {}, int block = 0);

/// View of the array of a rank's only block. Local, allocates nothing. Throws Error if the rank has
/// several blocks.
Field view_block(const CartesianDomain& domain, std::byte* array, Element element,
    const ArrayLayout& layout = {});
/// View of one array per block. Local. Throws Error for another number of arrays. Every rank's
/// exchange constructor refuses a depth beyond the domain's or array's halo, and a stagger other
/// than −1, 0 or 1.
Field view_blocks(const CartesianDomain& domain, const std::vector<std::byte*>& arrays,
    Element element, const ArrayLayout& layout = {});

/// View of the array of a rank's only block. Local.
///
///     Field u = view(domain, data.data());
template <class T>
Field view(const CartesianDomain& domain, T* array, const ArrayLayout& layout = {}) {
  return view_block(domain, reinterpret_cast<std::byte*>(array), element_of<T>(), layout);
}
/// View of one array per block. Local.
///
///     Field u = view(domain, std::vector{left.data(), right.data()});
template <class T>
Field view(
    const CartesianDomain& domain, const std::vector<T*>& arrays, const ArrayLayout& layout = {}) {
  std::vector<std::byte*> blocks;
  for (T* array : arrays) blocks.push_back(reinterpret_cast<std::byte*>(array));
  return view_blocks(domain, blocks, element_of<T>(), layout);
}
/// View of an array of all cells or points of the grid, without halo, for `gather`. Only order,
/// components and stagger of `layout` count. Local.
Field view_whole(const CartesianDomain& domain, std::byte* array, Element element,
    const ArrayLayout& layout = {});
template <class T>
Field view_whole(const CartesianDomain& domain, T* array, const ArrayLayout& layout = {}) {
  return view_whole(domain, reinterpret_cast<std::byte*>(array), element_of<T>(), layout);
}
/// View of owned cells and ghosts in separate arrays. Order::c: a cell's components are contiguous;
/// Order::fortran: each component is contiguous over the array. Local.
Field view_cells(std::byte* owned, local_index owned_cells, std::byte* ghosts,
    local_index ghost_cells, Element element, ArrayLayout layout = {});

/// View of one array: owned cells, then ghosts, with `components` values each. Local.
template <class T>
Field view(const IndexedDomain& domain, T* cells, int components = 1) {
  auto* owned = reinterpret_cast<std::byte*>(cells);
  auto* ghosts = owned == nullptr ? nullptr
                                  : owned + static_cast<byte_count>(domain.owned()) * components *
                                                static_cast<byte_count>(sizeof(T));
  return view_cells(
      owned, domain.owned(), ghosts, domain.ghosts(), element_of<T>(), {Order::c, components});
}
/// View of owned cells and ghosts in two arrays. Local.
template <class T>
Field view(const IndexedDomain& domain, T* owned, T* ghosts, int components) {
  return view_cells(reinterpret_cast<std::byte*>(owned), domain.owned(),
      reinterpret_cast<std::byte*>(ghosts), domain.ghosts(), element_of<T>(),
      {Order::c, components});
}

/// Coordinates of the cell or point at `BlockView::first`. Local.
Coordinates first_of(const CartesianDomain& domain, const Field& field, int block);

/// "float32 × 3, halo 2", for messages.
std::string to_string(const Field& field);

}  // namespace parhelion
