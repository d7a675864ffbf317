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

HandleTable<IndexMapObject>& index_maps();
HandleTable<CartesianObject>& cartesians();
HandleTable<ExchangeObject>& exchanges();

inline std::shared_ptr<IndexMapObject> get(phl_index_map handle) { return index_maps().get(handle); }
inline std::shared_ptr<CartesianObject> get(phl_cartesian handle) { return cartesians().get(handle); }
inline std::shared_ptr<ExchangeObject> get(phl_exchange handle) { return exchanges().get(handle); }

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
