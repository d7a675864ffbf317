// Descriptors of Fortran arrays: ISO/IEC 1539-1:2018, 18.4.
#pragma once

#include <ISO_Fortran_binding.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "../c/objects.hpp"

namespace parhelion::fortran {

/// Null before MPI_Init and after MPI_Finalize, which Communicator reports.
inline MPI_Comm comm_of(const int* comm) noexcept try {
  return comm_from_fortran(*comm);
} catch (...) {
  return MPI_COMM_NULL;
}

using Ids = std::vector<global_index>;
/// Any argument, a scalar too. Null: an absent optional one.
using Array = const CFI_cdesc_t*;
using Options = const phl_exchange_options*;
using Combine = void (*)(void*, const void*, int64_t);
/// Up to eight arrays.
#define PHL_EIGHT Array a, Array b, Array c, Array d, Array e, Array f, Array g, Array h

inline bool is_integer(CFI_type_t type) {
  return type == CFI_type_int8_t || type == CFI_type_int16_t || type == CFI_type_int32_t ||
         type == CFI_type_int64_t;
}

/// Only bitwise reductions combine logicals.
inline bool is_logical(CFI_type_t type) {
#ifdef CFI_type_Logical  // gfortran: logicals of any kind
  return (type & CFI_type_mask) == CFI_type_Logical;
#else  // flang: logicals of more than a byte have the codes of C's "least" integers
  return !is_integer(type) && (type == CFI_type_Bool || type == CFI_type_int_least16_t ||
                                  type == CFI_type_int_least32_t || type == CFI_type_int_least64_t);
#endif
}

inline byte_count bytes_of(Array array) { return static_cast<byte_count>(array->elem_len); }

/// Logicals are integers, characters and derived types opaque bytes. Throws Error for addresses.
inline Element element_of(Array array) {
  const CFI_type_t type = array->type;
  Scalar scalar = Scalar::bytes;
  if (is_integer(type) || is_logical(type)) {
    for (const Scalar each : {Scalar::int8, Scalar::int16, Scalar::int32, Scalar::int64})
      if (size_of(each) == bytes_of(array)) scalar = each;
    if (scalar == Scalar::bytes)
      throw Error(
          concat("integers of ", array->elem_len, " bytes are not supported: use 1, 2, 4 or 8"),
          ErrorKind::type);
  }
  if (type == CFI_type_float) scalar = Scalar::float32;
  if (type == CFI_type_double) scalar = Scalar::float64;
  if (type == CFI_type_float_Complex) scalar = Scalar::complex64;
  if (type == CFI_type_double_Complex) scalar = Scalar::complex128;
  if (type == CFI_type_cptr)
    throw Error("addresses mean nothing on other ranks: exchange values", ErrorKind::type);
  return {scalar, static_cast<std::int32_t>(array->elem_len)};
}

/// Elements in the first `dimensions` dimensions.
inline byte_count count_of(Array array, int dimensions) {
  byte_count count = 1;
  for (int d = 0; d < dimensions; ++d) count *= array->dim[d].extent;
  return count;
}

/// Contiguous in the first `dimensions` dimensions.
inline bool is_dense(Array array, int dimensions) {
  byte_count expected = bytes_of(array);
  for (int d = 0; d < dimensions; expected *= array->dim[d++].extent)
    if (array->dim[d].extent > 1 && array->dim[d].sm != expected) return false;
  return true;
}

/// Throws Error for arrays of assumed size.
inline void require_extents(Array array, const std::string& name) {
  for (int d = 0; d < array->rank; ++d)
    if (array->dim[d].extent < 0)
      refuse(name,
          " is an array of assumed size, whose extent is not known: "
          "declare it as (:)");
}

/// Throws Error for arrays of assumed size, or not contiguous.
inline void require_whole(Array array, const std::string& name) {
  require_extents(array, name);
  if (count_of(array, array->rank) > 0 && !is_dense(array, array->rank))
    refuse(name, " is not contiguous: pass a whole array");
}

/// Throws Error for arrays of assumed size, scalars, and more than 5 dimensions.
inline ArrayShape shape_of(Array array) {
  require_extents(array, "the array");
  ArrayShape shape{static_cast<std::byte*>(array->base_addr), element_of(array),
      static_cast<std::size_t>(array->rank)};
  if (array->rank < 1 || shape.rank > shape.extents.size())
    refuse("the array has ", array->rank, " dimensions: pass 1 to ", shape.extents.size());
  for (std::size_t d = 0; d < shape.rank; ++d)
    shape.extents[d] = array->dim[d].extent, shape.strides[d] = array->dim[d].sm;
  return shape;
}

/// An array whose last dimension counts cells, as owned cells. Throws Error for scalars, arrays of
/// assumed size, and cells that are not contiguous.
struct Cells {
  CellValues values;
  byte_count count;
};
inline Cells cells_of(Array array, const std::string& name) {
  if (array->rank == 0)
    refuse(name, " is a scalar: pass an array whose last dimension holds the cells");
  require_extents(array, name);
  const int last = array->rank - 1;
  const byte_count components = count_of(array, last), count = array->dim[last].extent;
  if (components < 1 || components > 1 << 24)
    refuse(name, " has ", components, " components per cell: pass 1 to 2^24");
  if (!is_dense(array, last))
    refuse(name, " has cells that are not contiguous: do not slice any dimension but the last");
  const byte_count stride = count > 1 ? array->dim[last].sm : bytes_of(array) * components;
  return {{{static_cast<std::byte*>(array->base_addr), stride}, {}, element_of(array),
              static_cast<int>(components)},
      count};
}

inline void require_equal_cells(const CellValues& a, const CellValues& b) {
  if (a.element != b.element || a.components != b.components)
    throw Error(
        "the two arrays differ in type or in their first dimensions: only the last one may "
        "differ",
        ErrorKind::type);
}

/// Owned cells and ghosts of a map, in one array or two. Throws Error for other numbers of cells.
inline CellValues values_of(const IndexedDomain& domain, Array x, Array ghosts) {
  const auto require_count = [](byte_count given, byte_count needed, const char* what) {
    if (given != needed)
      refuse(what, " has ", given, " cells in its last dimension, but the map has ", needed,
          ": make them equal");
  };
  auto [values, count] = cells_of(x, "the array");
  if (ghosts == nullptr) {
    require_count(count, domain.size(), "the array of owned cells and ghosts");
    return values;
  }
  require_count(count, domain.owned(), "the array of owned cells");
  const auto [others, other_count] = cells_of(ghosts, "the array of ghosts");
  require_equal_cells(values, others);
  require_count(other_count, domain.ghosts(), "the array of ghosts");
  values.ghosts = others.owned;
  return values;
}

/// Throws Error unless an array is of integers (or logicals), and whole or of rank 1.
inline void require_integers(Array array, const char* name, bool or_logicals) {
  const bool known = array->type == CFI_type_int32_t || array->type == CFI_type_int64_t ||
                     (or_logicals && is_logical(array->type));
  if (!known || (array->elem_len != 4 && array->elem_len != 8))
    throw Error(concat(name, " must hold integers of 4 or 8 bytes"), ErrorKind::type);
  array->rank == 1 ? require_extents(array, name) : require_whole(array, name);
}
/// Calls each(address) per element.
template <class Each>
void for_each(Array array, Each&& each) {
  const byte_count step = array->rank == 1 ? array->dim[0].sm : bytes_of(array);
  auto* at = static_cast<std::byte*>(array->base_addr);
  for (byte_count left = count_of(array, array->rank); left > 0; --left, at += step) each(at);
}

inline global_index integer_at(Array array, const void* at) {
  std::int32_t four = 0;
  global_index value = 0;
  if (array->elem_len == 8) std::memcpy(&value, at, sizeof value);
  else std::memcpy(&four, at, sizeof four), value = four;
  return is_logical(array->type) ? value != 0 : value;
}

/// For what checks an int: a number out of its range stays out of range.
inline int int_of(global_index value) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<global_index>(value, Limits::min(), Limits::max()));
}
/// An integer, or a logical as 1 or 0.
inline global_index number_of(Array scalar, global_index otherwise = 0) {
  return scalar != nullptr ? integer_at(scalar, scalar->base_addr) : otherwise;
}
inline bool is_set(Array flag, bool otherwise = false) { return number_of(flag, otherwise) != 0; }

/// Integers of any kind and rank, logicals as 1 and 0, each plus `shift`; none of an absent
/// argument. Throws Error for other types.
inline Ids integers_of(Array array, const char* name, global_index shift = 0) {
  Ids values;
  if (array == nullptr) return values;
  require_integers(array, name, true);
  for_each(array, [&](std::byte* at) { values.push_back(integer_at(array, at) + shift); });
  return values;
}
inline std::vector<int> ints_of(Array array, const char* name, global_index shift = 0) {
  std::vector<int> values;
  std::ranges::transform(integers_of(array, name, shift), std::back_inserter(values), int_of);
  return values;
}

/// Throws Error unless it has as many elements, integers.
inline void require_room(Array array, std::size_t values, const char* name) {
  require_integers(array, name, false);
  const byte_count count = count_of(array, array->rank);
  if (count != static_cast<byte_count>(values))
    refuse(name, " has ", count, " elements and needs ", values, ": pass an array of that size");
}
/// Writes `values`, each plus `shift`. Throws Error if one does not fit the array's kind.
inline void assign(Array array, const Ids& values, const char* name, global_index shift = 0) {
  require_room(array, values.size(), name);
  auto next = values.begin();
  for_each(array, [&](std::byte* at) {
    const global_index value = *next++ + shift;
    const auto four = static_cast<std::int32_t>(value);
    if (array->elem_len == 4 && four != value)
      refuse(value, " does not fit the integers of ", name, ": use a larger kind");
    if (array->elem_len == 8) std::memcpy(at, &value, sizeof value);
    else std::memcpy(at, &four, sizeof four);
  });
}

}  // namespace parhelion::fortran
