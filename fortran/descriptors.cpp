#include "descriptors.hpp"

#include <cstring>

#include "parhelion/core/error.hpp"

namespace parhelion::fortran {
namespace {

Scalar integer_of(std::size_t bytes) {
    switch (bytes) {
        case 1: return Scalar::int8;
        case 2: return Scalar::int16;
        case 4: return Scalar::int32;
        case 8: return Scalar::int64;
        default:
            throw Error(
                "integers of " + std::to_string(bytes) + " bytes are not known: use 1, 2, 4 or 8",
                ErrorKind::type);
    }
}

bool is_integer(CFI_type_t type) {
    return type == CFI_type_int8_t || type == CFI_type_int16_t || type == CFI_type_int32_t ||
           type == CFI_type_int64_t;
}

bool is_logical(CFI_type_t type) {
#ifdef CFI_type_Logical  // gfortran: any kind
    return (type & CFI_type_mask) == CFI_type_Logical;
#else  // flang: those of more than a byte have the codes of C's "least" integers; where these are
       // integers here, they are found before
    return type == CFI_type_Bool || type == CFI_type_int_least16_t ||
           type == CFI_type_int_least32_t || type == CFI_type_int_least64_t;
#endif
}

template <class T>
void store(std::byte* at, global_index value, const char* name) {
    const T narrow = static_cast<T>(value);
    if (narrow != value)
        throw Error(std::to_string(value) + " does not fit the integers of " + name +
                    ": use a larger kind");
    std::memcpy(at, &narrow, sizeof narrow);
}

template <class T>
global_index load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace

c::ArrayShape shape_of(const CFI_cdesc_t& array, bool goes_on) {
    static_assert(CFI_MAX_RANK <= c::ArrayShape::most_dimensions);
    c::ArrayShape shape{
        array.type, array.rank, static_cast<std::int64_t>(array.elem_len), {}, goes_on};
    for (int d = 0; d < array.rank; ++d) shape.extents[d] = array.dim[d].extent;
    return shape;
}

bool is_contiguous(const CFI_cdesc_t& array) {
    auto expected = static_cast<byte_count>(array.elem_len);
    byte_count count = 1;
    for (int d = 0; d < array.rank; ++d) count *= array.dim[d].extent;
    for (int d = 0; count > 0 && d < array.rank; expected *= array.dim[d++].extent)
        if (array.dim[d].extent > 1 && array.dim[d].sm != expected) return false;
    return true;
}

Kind kind_of(const c::ArrayShape& array) {
    const auto type = static_cast<CFI_type_t>(array.type);
    const auto bytes = static_cast<std::size_t>(array.bytes);
    const auto size = static_cast<std::int32_t>(array.bytes);
    if (is_integer(type)) return {{integer_of(bytes), size}};
    if (is_logical(type)) return {{integer_of(bytes), size}, true};
    if (type == CFI_type_float) return {{Scalar::float32, size}};
    if (type == CFI_type_double) return {{Scalar::float64, size}};
    if (type == CFI_type_float_Complex) return {{Scalar::complex64, size}};
    if (type == CFI_type_double_Complex) return {{Scalar::complex128, size}};
    if (type == CFI_type_cptr)
        throw Error("addresses mean nothing on other ranks: exchange values", ErrorKind::type);
    return {{Scalar::bytes, size}};
}

void require_extents(const c::ArrayShape& array, const char* name) {
    for (int d = 0; d < array.rank; ++d)
        if (array.extents[d] < 0)
            throw Error(
                std::string(name) +
                " is an array of assumed size, whose extent is not known: declare it as (:)");
}

int components_of(const c::ArrayShape& array, const char* name) {
    if (array.rank == 0)
        throw Error(std::string(name) +
                    " is a scalar: pass an array whose last dimension holds the cells");
    require_extents(array, name);
    byte_count components = 1;
    for (int d = 0; d < array.rank - 1; ++d) components *= array.extents[d];
    if (components < 1 || components > 1 << 24)
        throw Error(std::string(name) + " has " + std::to_string(components) +
                    " components per cell: pass 1 to 2^24");
    return static_cast<int>(components);
}

Cells cells_of(const CFI_cdesc_t& array, const char* name) {
    const c::ArrayShape shape = shape_of(array);
    const int components = components_of(shape, name), last = array.rank - 1;
    auto dense = static_cast<byte_count>(array.elem_len);
    for (int d = 0; d < last; dense *= array.dim[d++].extent)
        if (array.dim[d].extent > 1 && array.dim[d].sm != dense)
            throw Error(std::string(name) +
                        " has cells that are not contiguous: pass all of the first dimensions");
    const byte_count count = array.dim[last].extent;
    return {kind_of(shape),
            components,
            count,
            {static_cast<std::byte*>(array.base_addr), count > 1 ? array.dim[last].sm : dense}};
}

namespace {

// `each(element)`: a list may have steps, other arrays are whole.
template <class Each>
void for_each(const CFI_cdesc_t& array, const char* name, Each&& each) {
    require_extents(shape_of(array), name);
    if (array.rank > 1 && !is_contiguous(array))
        throw Error(std::string(name) + " is not contiguous: pass a whole array");
    byte_count count = 1;
    for (int d = 0; d < array.rank; ++d) count *= array.dim[d].extent;
    const byte_count step =
        array.rank == 1 ? array.dim[0].sm : static_cast<byte_count>(array.elem_len);
    auto* at = static_cast<std::byte*>(array.base_addr);
    for (; count > 0; --count, at += step) each(at);
}

void require_integers(const CFI_cdesc_t& array, const char* name, bool or_logicals) {
    if ((array.type != CFI_type_int32_t && array.type != CFI_type_int64_t &&
         !(or_logicals && is_logical(array.type))) ||
        (array.elem_len != 4 && array.elem_len != 8))
        throw Error(std::string(name) + " must hold integers of 4 or 8 bytes", ErrorKind::type);
}

}  // namespace

std::vector<global_index> integers_of(const CFI_cdesc_t& array, const char* name) {
    require_integers(array, name, true);
    const bool logical = array.type != CFI_type_int32_t && array.type != CFI_type_int64_t;
    std::vector<global_index> values;
    for_each(array, name, [&](const std::byte* at) {
        const global_index value =
            array.elem_len == 4 ? load<std::int32_t>(at) : load<std::int64_t>(at);
        values.push_back(logical ? value != 0 : value);
    });
    return values;
}

void assign(const CFI_cdesc_t& array, const std::vector<global_index>& values, const char* name) {
    require_integers(array, name, false);
    byte_count count = 1;
    for (int d = 0; d < array.rank; ++d) count *= array.dim[d].extent;
    if (count >= 0 && count != static_cast<byte_count>(values.size()))
        throw Error(std::string(name) + " has " + std::to_string(count) + " elements and needs " +
                    std::to_string(values.size()) + ": pass an array of that size");
    auto next = values.begin();
    for_each(array, name, [&](std::byte* at) {
        if (array.elem_len == 4) store<std::int32_t>(at, *next++, name);
        else store<std::int64_t>(at, *next++, name);
    });
}

}  // namespace parhelion::fortran
