// Arrays that are named at a call of an index map.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <span>
#include <vector>

#include "parhelion/core/element.hpp"
#include "parhelion/core/types.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {

/// Cells `stride` bytes apart.
struct CellArray {
    std::byte* first = nullptr;
    byte_count stride = 0;
    friend bool operator==(const CellArray&, const CellArray&) = default;
};

/// A dimension of the cells of an array: how many, and how many bytes apart.
struct CellAxis {
    global_index extent = 0;
    byte_count stride = 0;
    friend bool operator==(const CellAxis&, const CellAxis&) = default;
};

/// Values of the cells of an index map, anywhere in memory: `components` elements per cell next to
/// each other. It owns nothing.
///
/// Of a map with places, `owned` is the whole array, and its cells and components may lie apart.
struct CellValues {
    CellArray owned;
    CellArray ghosts;  ///< first == nullptr: they lie behind the owned ones
    Element element;
    int components = 1;
    global_index elements = untold;  ///< in an array of owned cells and ghosts whose size is known

    byte_count component_stride = 0;  ///< with places; 0: next to each other
    /// With places: dimensions of the cells, the one whose cells are numbered fastest first. None:
    /// one, of the stride of `owned`.
    std::array<CellAxis, max_dimensions> axes{};

    static constexpr global_index untold = -1;

    CellValues(CellArray owned_cells, CellArray ghost_cells, Element of, int per_cell = 1)
        : owned(owned_cells), ghosts(ghost_cells), element(of), components(per_cell) {}
    /// Owned cells, then ghosts.
    template <class T>
    CellValues(T* cells, int per_cell = 1)
        : CellValues(array(cells, per_cell), {}, element_of<T>(), per_cell) {}
    template <class T, class Allocator>
    CellValues(std::vector<T, Allocator>& cells, int per_cell = 1)
        : CellValues(cells.data(), per_cell) {
        elements = static_cast<global_index>(cells.size());
    }
    /// Owned cells and ghosts in two arrays.
    template <class T>
    CellValues(T* owned_cells, T* ghost_cells, int per_cell = 1)
        : CellValues(array(owned_cells, per_cell), array(ghost_cells, per_cell), element_of<T>(),
                     per_cell) {}
    /// What `view` gives. Throws Error for a field that is not of an index map, or keeps
    /// each component in a row of its own.
    CellValues(const Field& view);

    byte_count width() const { return byte_count{element.size} * components; }
    /// Whether the components of a cell lie next to each other.
    bool is_joined() const {
        return components == 1 || component_stride == 0 || component_stride == element.size;
    }

private:
    template <class T>
    static CellArray array(T* first, int per_cell) {
        return {reinterpret_cast<std::byte*>(first), static_cast<byte_count>(sizeof(T)) * per_cell};
    }
};

/// The arrays of a call, as `{a, b, c}`, a span, or one alone. It refers to them.
class CellArrays : public std::span<const CellValues> {
public:
    CellArrays(std::initializer_list<CellValues> arrays) : span(arrays.begin(), arrays.size()) {}
    CellArrays(std::span<const CellValues> arrays) : span(arrays) {}
    CellArrays(const std::vector<CellValues>& arrays) : span(arrays) {}
    CellArrays(const CellValues& array) : span(&array, 1) {}
};

}  // namespace parhelion
