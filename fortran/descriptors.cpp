#include "descriptors.hpp"

#include <cstring>

#include "parhelion/core/error.hpp"

namespace parhelion::fortran {
namespace {

int integer_of(std::int64_t bytes) {
    switch (bytes) {
        case 1: return PHL_INT8;
        case 2: return PHL_INT16;
        case 4: return PHL_INT32;
        case 8: return PHL_INT64;
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

}  // namespace

bool is_logical(CFI_type_t type) {
#ifdef CFI_type_Logical  // gfortran: any kind
    return (type & CFI_type_mask) == CFI_type_Logical;
#else  // flang: those of more than a byte have the codes of C's "least" integers
    return !is_integer(type) && (type == CFI_type_Bool || type == CFI_type_int_least16_t ||
                                 type == CFI_type_int_least32_t || type == CFI_type_int_least64_t);
#endif
}

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

phl_element element_of(const c::ArrayShape& array) {
    const auto type = static_cast<CFI_type_t>(array.type);
    const auto of = [&](int scalar) {
        return phl_element{scalar, 1, static_cast<std::int32_t>(array.bytes)};
    };
    if (is_integer(type) || is_logical(type)) return of(integer_of(array.bytes));
    if (type == CFI_type_float) return of(PHL_FLOAT32);
    if (type == CFI_type_double) return of(PHL_FLOAT64);
    if (type == CFI_type_float_Complex) return of(PHL_COMPLEX64);
    if (type == CFI_type_double_Complex) return of(PHL_COMPLEX128);
    if (type == CFI_type_cptr)
        throw Error("addresses mean nothing on other ranks: exchange values", ErrorKind::type);
    return of(PHL_BYTES);
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

phl_values cells_of(const CFI_cdesc_t& array, const char* name) {
    const c::ArrayShape shape = shape_of(array);
    const int components = components_of(shape, name), last = array.rank - 1;
    phl_element element = element_of(shape);
    element.components = components;
    auto dense = static_cast<byte_count>(array.elem_len);
    for (int d = 0; d < last; dense *= array.dim[d++].extent)
        if (array.dim[d].extent > 1 && array.dim[d].sm != dense)
            throw Error(std::string(name) +
                        " has cells that are not contiguous: pass all of the first dimensions");
    const std::int64_t count = array.dim[last].extent;
    return {element, {array.base_addr, count, count > 1 ? array.dim[last].sm : dense}, {}};
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
        std::int32_t four = 0;
        global_index value = 0;
        if (array.elem_len == 8) std::memcpy(&value, at, sizeof value);
        else std::memcpy(&four, at, sizeof four), value = four;
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
        const global_index value = *next++;
        const auto four = static_cast<std::int32_t>(value);
        if (array.elem_len == 4 && four != value)
            throw Error(std::to_string(value) + " does not fit the integers of " + name +
                        ": use a larger kind");
        if (array.elem_len == 8) std::memcpy(at, &value, sizeof value);
        else std::memcpy(at, &four, sizeof four);
    });
}

}  // namespace parhelion::fortran
