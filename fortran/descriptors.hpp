// Fortran arrays as they arrive in C: ISO/IEC 1539-1:2018, 18.4.
#pragma once

#include <ISO_Fortran_binding.h>

#include <vector>

#include "parhelion/index_map/index_map.hpp"
#include "parhelion/phl.h"

namespace parhelion::fortran {

/// What an array holds. Logicals are integers that can only be combined bit by bit.
struct Kind {
    Element element;
    bool logical = false;
};

/// Throws Error for addresses. Characters and derived types are opaque bytes.
Kind kind_of(const CFI_cdesc_t& array);

/// An array whose last dimension is distributed: its cells, and how many components each has.
struct Cells {
    Kind kind;
    int components = 1;
    byte_count count = 0;
    CellArray array;
};

/// Throws Error for scalars, arrays of assumed size, and arrays whose cells are not contiguous.
Cells cells_of(const CFI_cdesc_t& array, const char* name);

/// Throws Error unless the array is contiguous in memory. Returns its elements' number.
byte_count require_contiguous(const CFI_cdesc_t& array, const char* name);

/// Integers of any kind and rank as a list; throws Error for other types.
std::vector<global_index> integers_of(const CFI_cdesc_t& array, const char* name);
/// Writes as many integers as the array has elements. Throws Error where a value does not fit its kind.
void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name);

/// Absent optional arguments arrive as null pointers.
using Array = CFI_cdesc_t*;

}  // namespace parhelion::fortran
