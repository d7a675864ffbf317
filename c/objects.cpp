#include "fields.hpp"

namespace parhelion::c {
namespace {

// Never destroyed: handles may outlive the end of main.
template <class T>
HandleTable<T>& table() {
    static auto* const all = new HandleTable<T>;
    return *all;
}

int in_range(int number, int last, const char* what) {
    if (number < 0 || number > last)
        throw Error(std::string(what) + " " + std::to_string(number) + " does not exist: use 0 … " + std::to_string(last));
    return number;
}

}  // namespace

HandleTable<IndexMapObject>& table_of(phl_index_map) { return table<IndexMapObject>(); }
HandleTable<CartesianObject>& table_of(phl_cartesian) { return table<CartesianObject>(); }
HandleTable<ExchangeObject>& table_of(phl_exchange) { return table<ExchangeObject>(); }
HandleTable<RedistributionObject>& table_of(phl_redistribution) { return table<RedistributionObject>(); }
HandleTable<PointSumsObject>& table_of(phl_point_sums) { return table<PointSumsObject>(); }

Element element_from(phl_element element) {
    const int scalar = in_range(element.scalar, PHL_SCALAR_COUNT - 1, "element type");
    const int size = scalar == PHL_BYTES ? element.bytes : size_of(static_cast<Scalar>(scalar));
    if (size < 1 || (element.bytes != 0 && element.bytes != size))
        throw Error("elements of " + std::to_string(element.bytes) + " bytes do not fit element type " + std::to_string(scalar) +
                        ": give the size of opaque elements, 0 for others",
                    ErrorKind::type);
    return {static_cast<Scalar>(scalar), size};
}

Direction direction_from(int number) { return static_cast<Direction>(in_range(number, PHL_REVERSE, "direction")); }

void keep(IndexedDomain domain, ExchangeOptions options, phl_index_map* map) {
    IndexMap made(std::move(domain), options);
    keep(IndexMapObject{std::move(made), std::move(options)}, *map);
}

ExchangeOptions options_from(const phl_exchange_options* given) {
    ExchangeOptions options;
    if (given == nullptr) return options;
    options.transport = given->transport != nullptr ? given->transport : "";
    options.timeout_s = given->timeout_s;
    options.work_s = given->work_s;
    options.threads = given->threads;
    options.progress_thread = given->progress_thread != 0;
    options.overlap = given->overlap != 0;
    options.at_once = given->at_once != 0;
    options.combine_in_end = given->combine_in_end != 0;
    options.check = given->check != 0;
    return options;
}

}  // namespace parhelion::c
