#include "parhelion/plan/field.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "convert.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {
namespace {

void construct(Field* self, const std::string& element, int components, bool indexed) {
    const Element kind = parse_element(element);
    new (self) Field{kind, components, kind.size, HaloWidth(0), indexed, {}};
}

// The depth, the array's halo, and on what it lives.
void set_layers(Field& field, const std::vector<int>& lower, const std::vector<int>& upper, const std::vector<int>& array_lower,
                const std::vector<int>& array_upper, const std::vector<int>& stagger, bool owns_ends) {
    field.halo = halo_from(lower, upper);
    field.array_halo = halo_from(array_lower, array_upper);
    field.stagger = stagger_from(stagger);
    field.boundary = owns_ends ? Boundary::owned : Boundary::open;
}

void add_block(Field& field, std::uintptr_t first, const std::vector<byte_count>& strides, byte_count component_stride) {
    BlockView block;
    block.first = reinterpret_cast<std::byte*>(first);
    block.component_stride = component_stride;
    std::copy_n(strides.begin(), std::min<std::size_t>(strides.size(), max_dimensions), block.strides.begin());
    field.blocks.push_back(block);
}

}  // namespace

void bind_field(nb::module_& module) {
#define PARHELION_TEXT(name, ...) #name,
    constexpr const char* elements[] = {PHL_SCALARS(PARHELION_TEXT)};
#undef PARHELION_TEXT
    nb::list names;
    for (const char* name : elements) names.append(name);
    module.attr("elements") = nb::tuple(names);
    nb::class_<Field>(module, "Field", "Where the values of one field lie. Keeps nothing alive.")
        .def("__init__", &construct, "element"_a, "components"_a, "indexed"_a)
        .def("set_layers", &set_layers, "lower"_a, "upper"_a, "array_lower"_a, "array_upper"_a, "stagger"_a, "owns_ends"_a)
        .def("add_block", &add_block, "first"_a, "strides"_a, "component_stride"_a)
        .def("__str__", [](const Field& field) { return to_string(field); });
}

}  // namespace parhelion::python
