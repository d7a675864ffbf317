// Descriptors of Fortran arrays: ISO/IEC 1539-1:2018, 18.4.
#pragma once

#include <ISO_Fortran_binding.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "../c/objects.hpp"

namespace parhelion::fortran {

/// Null before MPI_Init and after MPI_Finalize, which Communicator reports.
inline MPI_Comm comm_of(const int* comm) noexcept try {
  return comm_from_fortran(*comm);
} catch (...) {
  return MPI_COMM_NULL;
}

using Ids = std::vector<global_index>;
/// Null: an absent optional argument.
using Array = const CFI_cdesc_t*;

/// Logicals are integers, characters and derived types opaque bytes. Throws Error for addresses.
Element element_of(const CFI_cdesc_t& array);
/// Whether a type is a logical, which only bitwise reductions combine.
bool is_logical(CFI_type_t type);

/// Throws Error for arrays of assumed size, or not contiguous.
void require_whole(const CFI_cdesc_t& array, const std::string& name);

/// Throws Error for arrays of assumed size, scalars, and more than 5 dimensions.
ArrayShape shape_of(const CFI_cdesc_t& array, const std::string& name);

/// An array whose last dimension counts cells, as owned cells. Throws Error for scalars, arrays of
/// assumed size, and cells that are not contiguous.
struct Cells {
  CellValues values;
  byte_count count;
};
Cells cells_of(const CFI_cdesc_t& array, const std::string& name);
void require_equal_cells(const CellValues& a, const CellValues& b);
/// Owned cells and ghosts of a map, in one array or two. Throws Error for other numbers of cells.
CellValues values_of(const IndexedDomain& domain, const CFI_cdesc_t& x, Array ghosts,
    const std::string& name = "the array");

/// Integers of any kind and rank, logicals as 1 and 0, each plus `shift`. Throws Error for other
/// types.
std::vector<global_index> integers_of(
    const CFI_cdesc_t& array, const char* name, global_index shift = 0);
/// For what checks an int: a number out of its range stays out of range.
inline int int_of(global_index value) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<global_index>(value, Limits::min(), Limits::max()));
}
/// The same as int; empty for an absent argument.
std::vector<int> ints_of(Array array, const char* name, global_index shift = 0);
/// Throws Error unless it has as many elements, integers.
void require_room(const CFI_cdesc_t& array, std::size_t values, const char* name);
/// Writes `values`, each plus `shift`. Throws Error if one does not fit the array's kind.
void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name,
    global_index shift = 0);

}  // namespace parhelion::fortran
