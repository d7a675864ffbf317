#include "parhelion/plan/field.hpp"

#include "parhelion/core/checked.hpp"

namespace parhelion {

std::vector<global_index> array_extents(const CartesianDomain& domain, const HaloWidth& halo, int block) {
    require_dimensions(halo.listed, domain.dimensions(), "the halo width of an array");
    const Box all = grow(domain.owned(block), halo, domain.dimensions());
    std::vector<global_index> extents;
    for (int d = 0; d < domain.dimensions(); ++d) extents.push_back(all.extent(d));
    return extents;
}

namespace {

BlockView view_array(const Box& all, int dimensions, std::byte* array, byte_count element, byte_count components, const HaloWidth& halo,
                     Order order) {
    BlockView view{array, {}};
    byte_count stride = order == Order::c ? element * components : element;
    for (int i = 0; i < dimensions; ++i) {
        const int d = order == Order::c ? dimensions - 1 - i : i;
        view.strides[d] = stride;
        if (array != nullptr) view.first += halo.lower[d] * stride;  // a null pointer must stay one, to be noticed
        stride = checked_product({stride, all.extent(d)}, "the size of an array");
    }
    if (order != Order::c) checked_product({stride, components}, "the size of an array");
    view.component_stride = order == Order::c ? element : stride;
    return view;
}

Field view_arrays(const CartesianDomain& domain, std::byte* const* arrays, std::size_t count, Element element, const HaloWidth& halo,
                  ArrayLayout layout) {
    if (count != domain.blocks().size())
        throw Error("the rank has " + std::to_string(domain.blocks().size()) + " blocks and " + std::to_string(count) +
                    " arrays were passed: pass one array per block");
    const int dimensions = domain.dimensions();
    require_dimensions(halo.listed, dimensions, "the halo width of an array");
    Field field{element, layout.components, element.size, halo, false, {}};
    for (std::size_t b = 0; b < count; ++b)
        field.blocks.push_back(view_array(grow(domain.owned(static_cast<int>(b)), halo, dimensions), dimensions, arrays[b], element.size,
                                          layout.components, halo, layout.order));
    field.component_stride = field.blocks.front().component_stride;
    return field;
}

}  // namespace

const char* to_string(MemorySpace space) { return space == MemorySpace::host ? "host" : "device"; }

Field view_block(const CartesianDomain& domain, std::byte* array, Element element, const HaloWidth& halo, ArrayLayout layout) {
    return view_arrays(domain, &array, 1, element, halo, layout);
}

Field view_blocks(const CartesianDomain& domain, const std::vector<std::byte*>& arrays, Element element, const HaloWidth& halo,
                  ArrayLayout layout) {
    return view_arrays(domain, arrays.data(), arrays.size(), element, halo, layout);
}

Field view_cells(std::byte* owned, local_index owned_cells, std::byte* ghosts, local_index ghost_cells, Element element,
                 ArrayLayout layout) {
    Field field{element, layout.components, element.size, 0, true, {}};
    if (layout.order == Order::c) {
        const byte_count stride = byte_count{element.size} * layout.components;
        field.blocks = {{owned, {stride}}, {ghosts, {stride}}};
        return field;
    }
    const byte_count owned_row = byte_count{owned_cells} * element.size, ghost_row = byte_count{ghost_cells} * element.size;
    const bool joined = owned != nullptr && ghosts == owned + owned_row;
    field.component_stride = owned_row + ghost_row;
    field.blocks = {{owned, {element.size}, joined ? 0 : owned_row}, {ghosts, {element.size}, joined ? 0 : ghost_row}};
    return field;
}

std::string to_string(const Field& field) {
    std::string text = to_string(field.element) + " × " + std::to_string(field.components);
    if (field.space != MemorySpace::host) text.append(" in ").append(to_string(field.space)).append(" memory");
    if (field.indexed) return text + (field.ragged() ? ", ragged" : ", indexed");
    text += ", halo";
    for (int d = 0; d < max_dimensions; ++d)
        text.append(" ").append(std::to_string(field.halo.lower[d])).append("/").append(std::to_string(field.halo.upper[d]));
    return text;
}

}  // namespace parhelion
