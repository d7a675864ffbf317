// Row arrays with ghosts, typed: what a solver written in C++ uses.
#pragma once

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "parhelion/core/error.hpp"
#include "parhelion/ghosts/ghost_exchange.hpp"
#include "parhelion/ghosts/ghost_rows.hpp"
#include "parhelion/plan/strided_view.hpp"

namespace parhelion {

/// Layouts of GhostArray. Fixed: known when compiling; uniform: when the array is made; padded: a
/// most, each row with a size of its own; ragged: as long as it needs to be.
template <int Width>
struct FixedRows {
    static_assert(Width > 0);
};
/// Every row has `width` entries, told when the array is made.
struct UniformRows {
    local_index width = 1;
};
/// Room for `most` entries in every row.
struct PaddedRows {
    local_index most = 1;
};
/// As many entries as each row needs.
struct RaggedRows {};

namespace detail {

/// What an entry of type T is made of: std::array (of std::array …) of numbers can be summed, other
/// types only copied.
template <class T>
struct EntryOf {
    static constexpr Element element() { return element_of<T>(); }
    static constexpr int components = 1;
};
template <class T, std::size_t Count>
struct EntryOf<std::array<T, Count>> {
    static constexpr Element element() { return EntryOf<T>::element(); }
    static constexpr int components = EntryOf<T>::components * static_cast<int>(Count);
};

template <class T>
RowLayout row_layout(RowKind kind, local_index width, byte_count alignment) {
    const byte_count least = static_cast<byte_count>(alignof(T));
    return {kind, EntryOf<T>::element(), EntryOf<T>::components, width,
            alignment > least ? alignment : least};
}
template <class T, int Width>
RowLayout row_layout(FixedRows<Width>, byte_count alignment) {
    return row_layout<T>(RowKind::uniform, Width, alignment);
}
template <class T>
RowLayout row_layout(UniformRows rows, byte_count alignment) {
    return row_layout<T>(RowKind::uniform, rows.width, alignment);
}
template <class T>
RowLayout row_layout(PaddedRows rows, byte_count alignment) {
    return row_layout<T>(RowKind::padded, rows.most, alignment);
}
template <class T>
RowLayout row_layout(RaggedRows, byte_count alignment) {
    return row_layout<T>(RowKind::ragged, 1, alignment);
}

template <class T, class Layout>
struct RowOf {
    using type = std::span<T>;
};
template <class T, int Width>
struct RowOf<T, FixedRows<Width>> {
    using type = std::span<T, static_cast<std::size_t>(Width)>;
};

}  // namespace detail

/// Owned rows, then ghost rows, indexed as one: `array[i]` is the span of row i's entries, of any
/// trivially copyable type. A handle: copies are the same rows. Making one is local; see GhostRows
/// for sizes, editing and errors.
///
///     GhostArray<double, FixedRows<5>> u{map};           // u[i][c]
///     GhostArray<std::int64_t, RaggedRows> cells{map};
///     cells.edit(); cells.resize(0, 3); cells[0][2] = 7; cells.compress();
template <class T, class Layout = UniformRows>
class GhostArray {
    static_assert(std::is_trivially_copyable_v<T>, "rows are moved as bytes");

public:
    using Row = typename detail::RowOf<T, Layout>::type;

    /// Rows begin at multiples of `alignment` bytes, at least those that T needs.
    explicit GhostArray(GhostMap map, Layout layout = {}, byte_count alignment = 0)
        : rows_(std::move(map), detail::row_layout<T>(layout, alignment)) {}

    /// The entries of an owned row, or behind those of a ghost row.
    Row operator[](local_index row) {
        T* first = reinterpret_cast<T*>(rows_.row(row));
        if constexpr (Row::extent != std::dynamic_extent) return Row(first, Row::extent);
        else return Row(first, static_cast<std::size_t>(rows_.row_size(row)));
    }
    /// All rows for inner loops, owned ones and ghosts: values()(i, k) is entry k of row i. Padded
    /// rows have all their room. Nothing is checked, and no such view is of ragged rows. Local.
    /// Error where the alignment of rows is no whole number of entries.
    StridedView<T, 2> values() {
        static_assert(!std::is_same_v<Layout, RaggedRows>, "ragged rows have no stride");
        const byte_count stride = rows_.layout().stride(),
                         entry = static_cast<byte_count>(sizeof(T));
        if (stride % entry != 0)
            throw Error("rows lie " + std::to_string(stride) +
                        " bytes apart, no multiple of their entries' " + std::to_string(entry) +
                        ": choose another alignment");
        return {reinterpret_cast<T*>(rows_.memory().start.get()),
                {size(), rows_.layout().width},
                {stride / entry, 1}};
    }
    local_index row_size(local_index row) const { return rows_.row_size(row); }
    local_index owned() const { return rows_.map().owned(); }
    local_index ghosts() const { return rows_.map().ghosts(); }
    local_index size() const { return rows_.map().size(); }

    /// Padded rows: within the room that there is. Ragged rows: between edit and compress.
    void resize(local_index row, global_index entries) { rows_.resize(row, entries); }
    void edit() { rows_.edit(); }
    void compress() { rows_.compress(); }

    const GhostMap& map() const { return rows_.map(); }
    const GhostRows& rows() const { return rows_; }
    operator GhostRows() const { return rows_; }

private:
    GhostRows rows_;
};

}  // namespace parhelion
