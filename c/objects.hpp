// What is behind the handles.
#pragma once

#include <optional>

#include "handles.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "parhelion/phl.h"

namespace parhelion::c {

struct IndexMapObject {
    static constexpr unsigned kind = 1;
    static constexpr const char* name = "index map";
    IndexMap map;
    ExchangeOptions options = {};
    std::vector<CellValues> arrays = {};  ///< of a call
};

struct CartesianObject {
    static constexpr unsigned kind = 2;
    static constexpr const char* name = "Cartesian domain";
    CartesianDomain domain;
};

/// A field as it was when its exchange was made, and where the exchange's arrays begin in what it points to.
struct MadeField {
    struct Array {
        int pointer;        ///< number of the block, or `ghosts`
        byte_count offset;  ///< from there to the first owned cell, or the first ghost
    };
    static constexpr int ghosts = -1;
    phl_field field;
    std::vector<Array> arrays;
};

/// A Fortran array: type and bytes of its elements, and extents. Plain data: Fortran keeps those of groups.
struct ArrayShape {
    static constexpr int most_dimensions = 15;
    std::int32_t type;
    std::int32_t rank;
    std::int64_t bytes;
    std::int64_t extents[most_dimensions];
    bool goes_on;  ///< of the field of the array before it: its ghosts (index map), or its next block
    friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

struct ExchangeObject {
    static constexpr unsigned kind = 3;
    static constexpr const char* name = "exchange";
    Exchange exchange;
    std::vector<MadeField> made;
    std::vector<std::byte*> places;       ///< of the arrays of a call
    std::vector<phl_field> given = {};    ///< by a call from Fortran: room for all fields
    std::vector<ArrayShape> shapes = {};  ///< of what Fortran has passed
    std::vector<void*> addresses = {};    ///< of the arrays of such a call
    std::string transport, explanation;
    std::optional<Exchange::Step> step;
};

struct RedistributionObject;
struct PointSumsObject;
HandleTable<IndexMapObject>& table_of(phl_index_map);
HandleTable<CartesianObject>& table_of(phl_cartesian);
HandleTable<ExchangeObject>& table_of(phl_exchange);
HandleTable<RedistributionObject>& table_of(phl_redistribution);
HandleTable<PointSumsObject>& table_of(phl_point_sums);

/// What is behind a handle. Throws HandleError for one that is not good.
template <class Handle>
auto get(Handle handle) {
    return table_of(handle).get(handle);
}

/// Puts an object under a handle of its own.
template <class Object, class Handle>
void keep(Object object, Handle& handle) {
    table_of(handle).add(std::make_shared<Object>(std::move(object)), handle);
}

/// Runs work on what is behind a handle, guarded.
template <class Handle, class Work>
int with(Handle handle, Work&& work) noexcept {
    return guarded([&] { work(get(handle)); });
}

constexpr auto never = [](const auto&) { return false; };

/// Ends a handle, or refuses while what is behind it is under way.
template <class Handle, class UnderWay = decltype((never))>
int free_handle(Handle* handle, const char* name, const char* refusal = "", UnderWay&& under_way = never) {
    return guarded([&] {
        require_output(handle, name);
        if (under_way(*get(*handle))) throw Error(refusal);
        require_mpi();
        table_of(*handle).remove(*handle);
        *handle = nullptr;
    });
}

/// A map of these cells, under a handle.
void keep(IndexedDomain domain, ExchangeOptions options, phl_index_map* map);

/// The exchange of a subset, under a handle of its own.
void make_subset(phl_exchange whole, const Only& only, phl_exchange& subset);

/// Enumerations arrive as int: throws Error for numbers that they do not have.
Element element_from(phl_element element);
Reduction reduction_from(int number);
Direction direction_from(int number);
/// Null: none.
ExchangeOptions options_from(const phl_exchange_options* options);

}  // namespace parhelion::c
