// Fortran arrays as they arrive in C: ISO/IEC 1539-1:2018, 18.4.
#pragma once

#include <ISO_Fortran_binding.h>

#include <vector>

#include "../c/objects.hpp"

namespace parhelion::fortran {

/// What an array holds. Logicals are integers that can only be combined bit by bit.
struct Kind {
    Element element;
    bool logical = false;
};

c::ArrayShape shape_of(const CFI_cdesc_t& array, bool goes_on = false);
bool is_contiguous(const CFI_cdesc_t& array);

/// Throws Error for addresses. Characters and derived types are opaque bytes.
Kind kind_of(const c::ArrayShape& array);
inline Kind kind_of(const CFI_cdesc_t& array) { return kind_of(shape_of(array)); }

/// Throws Error for arrays of assumed size.
void require_extents(const c::ArrayShape& array, const char* name);
/// Of each cell, which the last dimension holds. Throws Error for scalars, too.
int components_of(const c::ArrayShape& array, const char* name);

/// An array whose last dimension is distributed: its cells, and how many components each has.
struct Cells {
    Kind kind;
    int components = 1;
    byte_count count = 0;
    CellArray array;
};

/// Throws Error for scalars, arrays of assumed size, and arrays whose cells are not contiguous.
Cells cells_of(const CFI_cdesc_t& array, const char* name);

/// Integers of any kind and rank as a list, logicals as 1 and 0; throws Error for other types.
std::vector<global_index> integers_of(const CFI_cdesc_t& array, const char* name);
/// Writes as many integers as the array has elements. Throws Error where a value does not fit its
/// kind.
void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name);

/// What a C function has told, as it would be thrown.
inline void require_status(int status) {
    if (status != PHL_SUCCESS) throw Error(phl_last_error(), static_cast<ErrorKind>(status));
}

/// Absent optional arguments arrive as null pointers.
using Array = CFI_cdesc_t*;

}  // namespace parhelion::fortran
