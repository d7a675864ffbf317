// What the rows of an array look like.
#pragma once

#include "parhelion/core/element.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// How many entries rows have.
enum class RowKind : std::uint8_t {
    uniform,  ///< every row has `width` entries
    padded,   ///< room for `width` entries in every row, of which it uses as many as its size says
    ragged,   ///< every row has as many entries as it needs, one row behind the other (CSR)
};

/// A row is a list of entries; an entry is `components` elements next to each other: a number, a
/// vector, a small matrix.
struct RowLayout {
    RowKind kind = RowKind::uniform;
    Element element;
    int components = 1;
    local_index width = 1;  ///< entries in a row (padded: at most); ragged: unused
    byte_count alignment =
        1;  ///< every row begins at a multiple of so many bytes, a power of two up to 4096

    byte_count entry_bytes() const { return byte_count{element.size} * components; }
    /// Distance between rows, of layouts that have one.
    byte_count stride() const { return aligned(entry_bytes() * width); }
    byte_count aligned(byte_count bytes) const {
        return (bytes + alignment - 1) / alignment * alignment;
    }
    friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

/// Throws Error saying what cannot be: no elements, a negative width, an alignment that is no power
/// of two. Local.
void check_layout(const RowLayout& layout);

}  // namespace parhelion
