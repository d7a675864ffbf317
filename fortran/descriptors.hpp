// Fortran arrays as they arrive in C: ISO/IEC 1539-1:2018, 18.4.
#pragma once

#include <ISO_Fortran_binding.h>

#include <vector>

#include "../c/objects.hpp"

namespace parhelion::fortran {

/// Absent optional arguments arrive as null pointers.
using Array = CFI_cdesc_t*;

c::ArrayShape shape_of(const CFI_cdesc_t& array, bool goes_on = false);
bool is_contiguous(const CFI_cdesc_t& array);

/// Of an array, with one component. Logicals are integers, characters and derived types opaque
/// bytes. Throws Error for addresses.
phl_element element_of(const c::ArrayShape& array);
/// What can only be combined bit by bit.
bool is_logical(CFI_type_t type);

/// Throws Error for arrays of assumed size.
void require_extents(const c::ArrayShape& array, const char* name);
/// Of each cell, which the last dimension holds. Throws Error for scalars, too.
int components_of(const c::ArrayShape& array, const char* name);

/// An array whose last dimension is distributed, as owned cells. Throws Error for scalars, arrays
/// of assumed size, and arrays whose cells are not contiguous.
phl_values cells_of(const CFI_cdesc_t& array, const char* name);

/// Integers of any kind and rank as a list, logicals as 1 and 0; throws Error for other types.
std::vector<global_index> integers_of(const CFI_cdesc_t& array, const char* name);
/// Writes as many integers as the array has elements. Throws Error where a value does not fit its
/// kind.
void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name);

inline Communicator communicator_of(const int* comm) { return Communicator(FortranComm{*comm}); }
inline Communicator communicator_of(phl_index_map map) { return c::get(map)->map.communicator(); }

/// Reads arrays of Fortran's on every rank, whose mistakes all ranks are told, and then calls C.
/// `on`: a communicator, or a map that has one. Collective.
template <class On, class Read, class Call>
int read_and_call(On on, const char* name, const phl_exchange_options* options, Read&& read,
                  Call&& call) {
    return c::guarded([&] {
        c::collective(communicator_of(on), name, c::limit_of(options), read,
                      [&] { c::require_status(call()); });
    });
}

}  // namespace parhelion::fortran
