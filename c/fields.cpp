#include "fields.hpp"

#include <algorithm>

using namespace parhelion;
using namespace parhelion::c;

namespace {

ArrayLayout layout_from(const phl_field& given) {
    if (given.order != PHL_ORDER_C && given.order != PHL_ORDER_FORTRAN)
        throw Error("order " + std::to_string(given.order) + " does not exist: use PHL_ORDER_C or PHL_ORDER_FORTRAN");
    return {static_cast<Order>(given.order), given.element.components == 0 ? 1 : given.element.components};
}

std::vector<std::byte*> arrays_from(const phl_field& given) {
    std::vector<std::byte*> arrays;
    require_array(given.blocks, given.block_count, "blocks");
    for (int b = 0; b < given.block_count; ++b) arrays.push_back(static_cast<std::byte*>(given.blocks[b]));
    if (given.blocks == nullptr) arrays.push_back(static_cast<std::byte*>(given.cells));
    return arrays;
}

MemorySpace space_from(const phl_field& given) {
    if (given.space != PHL_HOST && given.space != PHL_DEVICE)
        throw Error("memory space " + std::to_string(given.space) + " does not exist: use PHL_HOST or PHL_DEVICE");
    return static_cast<MemorySpace>(given.space);
}

HaloWidth width_from(const int32_t* lower, const int32_t* upper, int dimensions, const char* what) {
    HaloWidth width = 0;
    for (int d = 0; d < dimensions; ++d) {
        width.lower[d] = lower[d];
        width.upper[d] = upper[d];
        if (lower[d] < 0 || upper[d] < 0) throw Error(std::string("a field has a negative ") + what + ": pass 0 or more");
    }
    return width;
}

}  // namespace

ArrayLayout parhelion::c::layout_on(const CartesianDomain& domain, const phl_field& given) {
    ArrayLayout layout = layout_from(given);
    const int dimensions = domain.dimensions();
    if (given.own_halo) layout.array_halo = width_from(given.halo_lower, given.halo_upper, dimensions, "halo width");
    if (given.own_depth) layout.depth = width_from(given.depth_lower, given.depth_upper, dimensions, "depth");
    for (int d = 0; d < dimensions; ++d) layout.stagger.along[d] = static_cast<std::int16_t>(std::clamp(given.stagger[d], -1, 1000));
    return layout;
}

namespace {

Field field_of(const CartesianDomain& domain, const phl_field& given) {
    auto arrays = arrays_from(given);
    for (std::size_t b = 0; b < arrays.size() && b < domain.blocks().size(); ++b)
        if (arrays[b] == nullptr && !domain.blocks()[b].owned.empty())
            throw Error("a field's array is a null pointer: allocate it before the exchange is made");
    return view_blocks(domain, std::move(arrays), element_from(given.element), layout_on(domain, given));
}

Field field_of(const IndexedDomain& domain, const phl_field& given) {
    const Element element = element_from(given.element);
    const ArrayLayout layout = layout_from(given);
    auto* owned = static_cast<std::byte*>(given.cells);
    auto* ghosts = static_cast<std::byte*>(given.ghosts);
    const byte_count width = byte_count{element.size} * (layout.order == Order::c ? layout.components : 1);
    if (ghosts == nullptr && owned != nullptr) ghosts = owned + domain.owned() * width;
    return view_cells(owned, domain.owned(), ghosts, domain.ghosts(), element, layout);
}

}  // namespace

Source::Source(const phl_group& given, int number) {
    if ((given.domain == nullptr) == (given.map == nullptr))
        throw Error("group " + std::to_string(number) + " needs a domain or an index map, one of the two: leave the other NULL");
    if (given.domain != nullptr) grid_ = get(given.domain);
    else map_ = get(given.map);
}

Field Source::view(const phl_field& given) const {
    Field field = grid_ ? field_of(grid_->domain, given) : field_of(map_->map.domain(), given);
    field.space = space_from(given);
    return field;
}
