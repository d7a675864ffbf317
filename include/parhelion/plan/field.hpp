// A non-owning view of the values that live on the cells.
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

/// Where the bytes of arrays are. An exchange has arrays of one space, and of one device on each
/// rank.
enum class MemorySpace : std::uint8_t { host, device };
const char* to_string(MemorySpace space);
/// Number of the device that has this memory, as CUDA's driver tells; −1: the host, null pointers
/// included. Managed memory is a device's where the driver says so. Local.
int device_of(const void* pointer);

/// Numbers of vectors are 1 to this.
constexpr int largest_vector = 32767;

/// A width that is not told: that of the domain.
constexpr int as_domain = -1;

/// Where the cells of one block are. Strides in bytes, one per dimension (indexed: only the first).
struct BlockView {
    std::byte* first =
        nullptr;  ///< first owned cell or point, layers beyond an end included where they are owned
                  ///< (structured); first owned cell or first ghost (indexed)
    std::array<byte_count, max_dimensions> strides{};
    byte_count component_stride = 0;  ///< between components of a cell; 0: the field's
};

/// One field: what its elements are and where they lie. It owns nothing: the arrays must outlive
/// every exchange that uses the view, and stay where they are.
struct Field {
    Element element;
    int components = 1;
    byte_count component_stride = 0;  ///< between components of a cell
    HaloWidth halo =
        0;  ///< depth that is exchanged (structured), up to the pattern's; equal on all ranks
    bool indexed = false;
    ShortList<BlockView, 2> blocks;         ///< one per block (structured); owned, ghosts (indexed)
    MemorySpace space = MemorySpace::host;  ///< equal on all ranks; views find it out, but of a
                                            ///< rank without arrays
    Stagger stagger = {};  ///< in which dimensions it lives on points; equal on all ranks
    Boundary boundary = Boundary::open;  ///< of its domain
    HaloWidth array_halo = as_domain;    ///< layers that its arrays have around their cells or
                                         ///< points, at least the depth; as_domain: not known
    std::int8_t sign = 1;   ///< −1: values change sign beyond a seam that mirrors an axis. Equal on
                            ///< all ranks
    std::int8_t along = 0;  ///< of a vector: which axis this component is along
    std::int16_t vector = 0;  ///< fields of one number are components of one vector, which seams
                              ///< turn; 0: a scalar. Equal on all ranks
    Neighbors neighbors = Neighbors::full;  ///< of a subset (`Only`), which alone sets it

    /// Bytes between the components of a cell of a block.
    byte_count stride_of_components(std::size_t block) const {
        return blocks[block].component_stride != 0 ? blocks[block].component_stride
                                                   : component_stride;
    }
};

/// How an array lies in memory, on what it lives and how much of it travels.
///
///     view(domain, pointer, {.stagger = {1, 0}, .array_halo = 2, .depth = 1})
///
/// In each dimension an array has owned cells + stagger + array_halo.lower + array_halo.upper
/// values, on every rank. An exchange fills `depth` layers beyond the cells or points, and the
/// point that the next block owns.
struct ArrayLayout {
    Order order = Order::c;
    int components = 1;
    Stagger stagger = {};
    HaloWidth array_halo = as_domain;  ///< as_domain: the domain's halo
    HaloWidth depth = as_domain;  ///< as_domain: the domain's halo, or the array's where that is
                                  ///< narrower. Equal on all ranks
    int sign = 1;  ///< −1: values change sign beyond a seam that mirrors an axis, as components of
                   ///< vectors do beyond a fold. Equal on all ranks
    int vector = 0;  ///< fields of an exchange with one number other than 0 are the components of a
                     ///< vector along the axes `along`: beyond a seam that turns axes, each has the
                     ///< values of the one along the axis there, signs included. Equal on all ranks
    int along = 0;
};

/// Cells of an array that holds one block with its halo: owned + stagger + lower + upper in each
/// dimension. Bytes: the product, times components, times the element's size. Throws Error for a
/// list of widths of another length than there are dimensions.
std::vector<global_index> array_extents(const CartesianDomain& domain,
                                        const ArrayLayout& layout = {}, int block = 0);

/// View of the array of a rank's only block. Local, allocates nothing. Throws Error where the rank
/// has several blocks.
Field view_block(const CartesianDomain& domain, std::byte* array, Element element,
                 const ArrayLayout& layout = {});
/// View of one array per block. Local. Throws Error when the number of arrays is not the number of
/// blocks. (A depth beyond the domain's halo or the array's, and a stagger that is neither 0 nor 1,
/// are refused, by every rank, when an exchange is made.)
Field view_blocks(const CartesianDomain& domain, const std::vector<std::byte*>& arrays,
                  Element element, const ArrayLayout& layout = {});

/// View of a rank's only array. Local.
///
///     Field u = view(domain, data.data());
template <class T>
Field view(const CartesianDomain& domain, T* array, const ArrayLayout& layout = {}) {
    return view_block(domain, reinterpret_cast<std::byte*>(array), element_of<T>(), layout);
}
/// One array for each of a rank's blocks. Local.
///
///     Field u = view(domain, std::vector{left.data(), right.data()});
template <class T>
Field view(const CartesianDomain& domain, const std::vector<T*>& arrays,
           const ArrayLayout& layout = {}) {
    std::vector<std::byte*> blocks;
    for (T* array : arrays) blocks.push_back(reinterpret_cast<std::byte*>(array));
    return view_blocks(domain, blocks, element_of<T>(), layout);
}
/// View of an array without halo that has all cells, or points, of the grid, as for `gather`; of
/// `layout` order, components and stagger count. Local.
Field view_whole(const CartesianDomain& domain, std::byte* array, Element element,
                 const ArrayLayout& layout = {});
template <class T>
Field view_whole(const CartesianDomain& domain, T* array, const ArrayLayout& layout = {}) {
    return view_whole(domain, reinterpret_cast<std::byte*>(array), element_of<T>(), layout);
}
/// View of owned cells and ghosts in separate arrays, `components` values per cell next to each
/// other (Order::c), or each component in a row of its own (Order::fortran; rows as long as the
/// array's cells). Local.
Field view_cells(std::byte* owned, local_index owned_cells, std::byte* ghosts,
                 local_index ghost_cells, Element element, ArrayLayout layout = {});

/// View of one array: owned cells, then ghosts, each `components` values. Local.
template <class T>
Field view(const IndexedDomain& domain, T* cells, int components = 1) {
    auto* owned = reinterpret_cast<std::byte*>(cells);
    auto* ghosts = owned == nullptr ? nullptr
                                    : owned + static_cast<byte_count>(domain.owned()) * components *
                                                  static_cast<byte_count>(sizeof(T));
    return view_cells(owned, domain.owned(), ghosts, domain.ghosts(), element_of<T>(),
                      {Order::c, components});
}
/// View of owned cells and ghosts in two arrays. Local.
template <class T>
Field view(const IndexedDomain& domain, T* owned, T* ghosts, int components) {
    return view_cells(reinterpret_cast<std::byte*>(owned), domain.owned(),
                      reinterpret_cast<std::byte*>(ghosts), domain.ghosts(), element_of<T>(),
                      {Order::c, components});
}

/// Where `BlockView::first` of a field is: the first owned cell or point, of layers beyond an end
/// where they are owned. Local.
Coordinates first_of(const CartesianDomain& domain, const Field& field, int block);

/// "float32 × 3, halo 2" for messages.
std::string to_string(const Field& field);

}  // namespace parhelion
