#include "descriptors.hpp"

#include <cstring>

namespace parhelion::fortran {
namespace {

bool is_integer(CFI_type_t type) {
  return type == CFI_type_int8_t || type == CFI_type_int16_t || type == CFI_type_int32_t ||
         type == CFI_type_int64_t;
}

Scalar integer_of(std::size_t bytes) {
  for (const Scalar each : {Scalar::int8, Scalar::int16, Scalar::int32, Scalar::int64})
    if (static_cast<std::size_t>(parhelion::size_of(each)) == bytes) return each;
  throw Error(
      concat("integers of ", bytes, " bytes are not known: use 1, 2, 4 or 8"), ErrorKind::type);
}

Scalar scalar_of(const CFI_cdesc_t& array) {
  const CFI_type_t type = array.type;
  if (is_integer(type) || is_logical(type)) return integer_of(array.elem_len);
  if (type == CFI_type_float) return Scalar::float32;
  if (type == CFI_type_double) return Scalar::float64;
  if (type == CFI_type_float_Complex) return Scalar::complex64;
  if (type == CFI_type_double_Complex) return Scalar::complex128;
  if (type == CFI_type_cptr)
    throw Error("addresses mean nothing on other ranks: exchange values", ErrorKind::type);
  return Scalar::bytes;
}

byte_count bytes_of(const CFI_cdesc_t& array) { return static_cast<byte_count>(array.elem_len); }

byte_count size_of(const CFI_cdesc_t& array, int dimensions) {
  byte_count size = 1;
  for (int d = 0; d < dimensions; ++d) size *= array.dim[d].extent;
  return size;
}

void require_extents(const CFI_cdesc_t& array, const std::string& name) {
  for (int d = 0; d < array.rank; ++d)
    if (array.dim[d].extent < 0)
      refuse(name,
          " is an array of assumed size, whose extent is not known: "
          "declare it as (:)");
}

// Contiguous in the first `dimensions` dimensions.
bool is_dense(const CFI_cdesc_t& array, int dimensions) {
  byte_count expected = bytes_of(array);
  for (int d = 0; d < dimensions; expected *= array.dim[d++].extent)
    if (array.dim[d].extent > 1 && array.dim[d].sm != expected) return false;
  return true;
}

// Only arrays of rank 1 may be strided.
void require_list(const CFI_cdesc_t& array, const char* name) {
  array.rank == 1 ? require_extents(array, name) : require_whole(array, name);
}

// Calls each(address) per element.
template <class Each>
void for_each(const CFI_cdesc_t& array, const char* name, Each&& each) {
  require_list(array, name);
  const byte_count step = array.rank == 1 ? array.dim[0].sm : bytes_of(array);
  auto* at = static_cast<std::byte*>(array.base_addr);
  for (byte_count left = size_of(array, array.rank); left > 0; --left, at += step) each(at);
}

void require_integers(const CFI_cdesc_t& array, const char* name, bool or_logicals) {
  const bool known = array.type == CFI_type_int32_t || array.type == CFI_type_int64_t ||
                     (or_logicals && is_logical(array.type));
  if (!known || (array.elem_len != 4 && array.elem_len != 8))
    throw Error(concat(name, " must hold integers of 4 or 8 bytes"), ErrorKind::type);
}

}  // namespace

bool is_logical(CFI_type_t type) {
#ifdef CFI_type_Logical  // gfortran: logicals of any kind
  return (type & CFI_type_mask) == CFI_type_Logical;
#else  // flang: logicals of more than a byte have the codes of C's "least" integers
  return !is_integer(type) && (type == CFI_type_Bool || type == CFI_type_int_least16_t ||
                                  type == CFI_type_int_least32_t || type == CFI_type_int_least64_t);
#endif
}

Element element_of(const CFI_cdesc_t& array) {
  return {scalar_of(array), static_cast<std::int32_t>(array.elem_len)};
}

void require_whole(const CFI_cdesc_t& array, const std::string& name) {
  require_extents(array, name);
  if (size_of(array, array.rank) > 0 && !is_dense(array, array.rank))
    refuse(name, " is not contiguous: pass a whole array");
}

ArrayShape shape_of(const CFI_cdesc_t& array, const std::string& name) {
  require_extents(array, name);
  ArrayShape shape{static_cast<std::byte*>(array.base_addr), element_of(array),
      static_cast<std::size_t>(array.rank)};
  if (array.rank < 1 || shape.rank > shape.extents.size())
    refuse(name, " has ", array.rank, " dimensions: pass 1 to ", shape.extents.size());
  for (std::size_t d = 0; d < shape.rank; ++d)
    shape.extents[d] = array.dim[d].extent, shape.strides[d] = array.dim[d].sm;
  return shape;
}

Cells cells_of(const CFI_cdesc_t& array, const std::string& name) {
  if (array.rank == 0)
    refuse(name, " is a scalar: pass an array whose last dimension holds the cells");
  require_extents(array, name);
  const int last = array.rank - 1;
  const byte_count components = size_of(array, last), count = array.dim[last].extent;
  if (components < 1 || components > 1 << 24)
    refuse(name, " has ", components, " components per cell: pass 1 to 2^24");
  if (!is_dense(array, last))
    refuse(name, " has cells that are not contiguous: pass all of the first dimensions");
  const byte_count stride = count > 1 ? array.dim[last].sm : bytes_of(array) * components;
  return {{{static_cast<std::byte*>(array.base_addr), stride}, {}, element_of(array),
              static_cast<int>(components)},
      count};
}

CellValues values_of(
    const IndexedDomain& domain, const CFI_cdesc_t& x, Array ghosts, const std::string& name) {
  const auto require_count = [](byte_count given, byte_count needed, const std::string& what) {
    if (given != needed)
      refuse(what, " has ", given, " cells in its last dimension and the map ", needed,
          ": make them equal");
  };
  auto [values, count] = cells_of(x, name);
  require_count(count, ghosts == nullptr ? domain.size() : domain.owned(),
      name + (ghosts == nullptr ? " of owned cells and ghosts" : " of owned cells"));
  if (ghosts == nullptr) return values;
  const auto [others, other_count] = cells_of(*ghosts, "the array of ghosts");
  require_equal_cells(values, others);
  require_count(other_count, domain.ghosts(), "the array of ghosts");
  values.ghosts = others.owned;
  return values;
}

void require_equal_cells(const CellValues& a, const CellValues& b) {
  if (a.element != b.element || a.components != b.components)
    throw Error(
        "the two arrays differ in type or in their first dimensions: only the last one may "
        "differ",
        ErrorKind::type);
}

std::vector<global_index> integers_of(
    const CFI_cdesc_t& array, const char* name, global_index shift) {
  require_integers(array, name, true);
  const bool logical = is_logical(array.type);
  std::vector<global_index> values;
  for_each(array, name, [&](const std::byte* at) {
    std::int32_t four = 0;
    global_index value = 0;
    if (array.elem_len == 8) std::memcpy(&value, at, sizeof value);
    else std::memcpy(&four, at, sizeof four), value = four;
    values.push_back((logical ? value != 0 : value) + shift);
  });
  return values;
}

std::vector<int> ints_of(Array array, const char* name, global_index shift) {
  std::vector<int> ints;
  if (array != nullptr)
    std::ranges::transform(integers_of(*array, name, shift), std::back_inserter(ints), int_of);
  return ints;
}

void require_room(const CFI_cdesc_t& array, std::size_t values, const char* name) {
  require_integers(array, name, false);
  require_list(array, name);
  const byte_count count = size_of(array, array.rank);
  if (count != static_cast<byte_count>(values))
    refuse(name, " has ", count, " elements and needs ", values, ": pass an array of that size");
}

void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name,
    global_index shift) {
  require_room(array, values.size(), name);
  auto next = values.begin();
  for_each(array, name, [&](std::byte* at) {
    const global_index value = *next++ + shift;
    const auto four = static_cast<std::int32_t>(value);
    if (array.elem_len == 4 && four != value)
      refuse(value, " does not fit the integers of ", name, ": use a larger kind");
    if (array.elem_len == 8) std::memcpy(at, &value, sizeof value);
    else std::memcpy(at, &four, sizeof four);
  });
}

}  // namespace parhelion::fortran
