// Handles, and what C passes with them: options, elements, arrays.
#include "objects.hpp"

#include <algorithm>

namespace parhelion::c {
namespace {

ArrayLayout layout_from(const phl_field& given) {
    if (given.order != PHL_ORDER_C && given.order != PHL_ORDER_FORTRAN)
        throw Error("order " + std::to_string(given.order) +
                    " does not exist: use PHL_ORDER_C or PHL_ORDER_FORTRAN");
    return {static_cast<Order>(given.order),
            given.element.components == 0 ? 1 : given.element.components};
}

std::vector<std::byte*> arrays_from(const phl_field& given) {
    std::vector<std::byte*> arrays;
    require_array(given.blocks, given.block_count, "blocks");
    for (int b = 0; b < given.block_count; ++b)
        arrays.push_back(static_cast<std::byte*>(given.blocks[b]));
    if (given.blocks == nullptr) arrays.push_back(static_cast<std::byte*>(given.cells));
    return arrays;
}

HaloWidth width_from(const int32_t* lower, const int32_t* upper, int dimensions, const char* what) {
    HaloWidth width = 0;
    for (int d = 0; d < dimensions; ++d) {
        width.lower[d] = lower[d];
        width.upper[d] = upper[d];
        if (lower[d] < 0 || upper[d] < 0)
            throw Error(std::string("a field has a negative ") + what + ": pass 0 or more");
    }
    return width;
}

Field field_of(const CartesianDomain& domain, const phl_field& given) {
    const std::vector<std::byte*> arrays = arrays_from(given);
    for (std::size_t b = 0; b < arrays.size() && b < domain.blocks().size(); ++b)
        if (arrays[b] == nullptr && !domain.blocks()[b].owned.empty())
            throw Error(
                "a field's array is a null pointer: allocate it before the exchange is made");
    return view_blocks(domain, arrays, element_from(given.element),
                       grid_layout(given, domain.dimensions()));
}

Field field_of(const IndexedDomain& domain, const phl_field& given) {
    const Element element = element_from(given.element);
    const ArrayLayout layout = layout_from(given);
    auto* owned = static_cast<std::byte*>(given.cells);
    auto* ghosts = static_cast<std::byte*>(given.ghosts);
    const byte_count width =
        byte_count{element.size} * (layout.order == Order::c ? layout.components : 1);
    if (ghosts == nullptr && owned != nullptr) ghosts = owned + domain.owned() * width;
    return view_cells(owned, domain.owned(), ghosts, domain.ghosts(), element, layout);
}

void copy_option(const char* from, std::string& to) { to = from != nullptr ? from : ""; }
void copy_option(double from, double& to) { to = from; }
void copy_option(std::int32_t from, int& to) { to = from; }
void copy_option(std::int32_t from, bool& to) { to = from != 0; }

}  // namespace

// Never destroyed: handles may outlive the end of main.
template <class Object>
HandleTable<Object>& table() {
    static auto* const all = new HandleTable<Object>;
    return *all;
}
template HandleTable<IndexMapObject>& table();
template HandleTable<CartesianObject>& table();
template HandleTable<ExchangeObject>& table();
template HandleTable<RedistributionObject>& table();
template HandleTable<PointSumsObject>& table();

ArrayLayout grid_layout(const phl_field& given, int dimensions) {
    ArrayLayout layout = layout_from(given);
    if (given.own_halo)
        layout.array_halo =
            width_from(given.halo_lower, given.halo_upper, dimensions, "halo width");
    if (given.own_depth)
        layout.depth = width_from(given.depth_lower, given.depth_upper, dimensions, "depth");
    for (int d = 0; d < dimensions; ++d)
        layout.stagger.along[d] = static_cast<std::int16_t>(std::clamp(given.stagger[d], -1, 1000));
    return layout;
}

std::byte* array_of(const phl_field& field, std::size_t array) {
    if (field.blocks != nullptr) return static_cast<std::byte*>(field.blocks[array]);
    return static_cast<std::byte*>(array == 0 ? field.cells : field.ghosts);
}

int in_range(int number, int last, const char* what) {
    if (number < 0 || number > last)
        throw Error(std::string(what) + " " + std::to_string(number) + " does not exist: use 0 … " +
                    std::to_string(last));
    return number;
}

Element element_from(phl_element element) {
    const int scalar = in_range(element.scalar, PHL_SCALAR_COUNT - 1, "element type");
    const int size = scalar == PHL_BYTES ? element.bytes : size_of(static_cast<Scalar>(scalar));
    if (size < 1 || (element.bytes != 0 && element.bytes != size))
        throw Error("elements of " + std::to_string(element.bytes) +
                        " bytes do not fit element type " + std::to_string(scalar) +
                        ": give the size of opaque elements, 0 for others",
                    ErrorKind::type);
    return {static_cast<Scalar>(scalar), size};
}

ExchangeOptions options_from(const phl_exchange_options* given) {
    ExchangeOptions options;
    if (given == nullptr) return options;
#define PHL_COPY(kind, name) copy_option(given->name, options.name);
    PHL_EXCHANGE_OPTIONS(PHL_COPY)
#undef PHL_COPY
    return options;
}

Source::Source(phl_cartesian domain) : grid_(get(domain)) {}
Source::Source(phl_index_map map) : map_(get(map)) {}
Source::Source(phl_cartesian domain, phl_index_map map, int group) {
    if ((domain == nullptr) == (map == nullptr))
        throw Error("group " + std::to_string(group) +
                    " needs a domain or an index map, one of the two: leave the other NULL");
    *this = domain != nullptr ? Source(domain) : Source(map);
}

Field Source::view(const phl_field& given) const {
    Field field = grid_ ? field_of(grid_->grid, given) : field_of(map_->domain(), given);
    if (given.space != PHL_HOST && given.space != PHL_DEVICE)
        throw Error("memory space " + std::to_string(given.space) +
                    " does not exist: use PHL_HOST or PHL_DEVICE");
    field.space = static_cast<MemorySpace>(given.space);
    return field;
}

std::vector<Field> Source::views(const phl_field* given, int count, const char* name) const {
    std::vector<Field> all;
    require_array(given, count, name);
    for (int f = 0; f < count; ++f) all.push_back(view(given[f]));
    return all;
}

// Of an index map ghosts may lie behind the owned cells.
MadeField::MadeField(const phl_field& field, const Field& view) : given(field) {
    const bool apart = view.indexed && field.ghosts != nullptr;
    for (std::size_t b = 0; b < view.blocks.size(); ++b) {
        const std::size_t array = view.indexed && !apart ? 0 : b;
        std::byte* const start = array_of(field, array);
        places.push_back({array, start == nullptr ? 0 : view.blocks[b].first - start});
    }
}

}  // namespace parhelion::c
