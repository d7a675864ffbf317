#include "parhelion/plan/field.hpp"

#include "parhelion/core/error.hpp"

namespace parhelion {

std::vector<global_index> array_extents(const CartesianDomain& domain, const HaloWidth& halo, int block) {
    const Box all = grow(domain.owned(block), halo, domain.dimensions());
    std::vector<global_index> extents;
    for (int d = 0; d < domain.dimensions(); ++d) extents.push_back(all.extent(d));
    return extents;
}

namespace {

BlockView view_block(const std::vector<global_index>& extents, std::byte* array, byte_count element, byte_count components,
                     const HaloWidth& halo, Order order) {
    BlockView view{array, {}};
    const int dims = static_cast<int>(extents.size());
    byte_count stride = order == Order::c ? element * components : element;
    for (int i = 0; i < dims; ++i) {
        const int d = order == Order::c ? dims - 1 - i : i;
        view.strides[d] = stride;
        view.first += halo.lower[d] * stride;
        stride *= extents[d];
    }
    return view;
}

byte_count cells_of(const std::vector<global_index>& extents) {
    byte_count cells = 1;
    for (global_index extent : extents) cells *= extent;
    return cells;
}

}  // namespace

Field view_blocks(const CartesianDomain& domain, std::vector<std::byte*> arrays, Element element, const HaloWidth& halo,
                  ArrayLayout layout) {
    if (arrays.size() != domain.blocks().size())
        throw Error("the rank has " + std::to_string(domain.blocks().size()) + " blocks and " +
                    std::to_string(arrays.size()) + " arrays were passed: pass one array per block");
    if (layout.order == Order::fortran && layout.components > 1 && arrays.size() > 1)
        for (std::size_t b = 1; b < arrays.size(); ++b)
            if (cells_of(array_extents(domain, halo, static_cast<int>(b))) != cells_of(array_extents(domain, halo)))
                throw Error("components of blocks with different extents lie at different distances in Fortran order: "
                            "use C order, or one field per component");
    Field field{element, layout.components, element.size, halo, false, {}};
    for (std::size_t b = 0; b < arrays.size(); ++b) {
        const auto extents = array_extents(domain, halo, static_cast<int>(b));
        field.blocks.push_back(view_block(extents, arrays[b], element.size, layout.components, halo, layout.order));
        if (layout.order == Order::fortran) field.component_stride = cells_of(extents) * element.size;
    }
    return field;
}

Field view_cells(std::byte* owned, local_index owned_cells, std::byte* ghosts, local_index ghost_cells, Element element,
                 ArrayLayout layout) {
    Field field{element, layout.components, element.size, 0, true, {}};
    byte_count stride = byte_count{element.size} * layout.components;
    if (layout.order == Order::fortran) {
        const bool joined = ghosts == owned + byte_count{owned_cells} * element.size;
        if (!joined && layout.components > 1)
            throw Error("components in rows of their own need owned cells and ghosts in one array: pass one array, or C order");
        field.component_stride = (byte_count{owned_cells} + ghost_cells) * element.size;
        stride = element.size;
    }
    field.blocks = {{owned, {stride}}, {ghosts, {stride}}};
    return field;
}

std::string to_string(const Field& field) {
    std::string text = to_string(field.element) + " × " + std::to_string(field.components);
    if (field.indexed) return text + ", indexed";
    text += ", halo";
    for (int d = 0; d < max_dimensions; ++d)
        text += " " + std::to_string(field.halo.lower[d]) + "/" + std::to_string(field.halo.upper[d]);
    return text;
}

}  // namespace parhelion
