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
};

struct CartesianObject {
    static constexpr unsigned kind = 2;
    static constexpr const char* name = "Cartesian domain";
    CartesianDomain domain;
};

struct ExchangeObject {
    static constexpr unsigned kind = 3;
    static constexpr const char* name = "exchange";
    Exchange exchange;
    std::string transport, explanation;
    std::optional<Exchange::Step> step;
};

HandleTable<IndexMapObject>& index_maps();
HandleTable<CartesianObject>& cartesians();
HandleTable<ExchangeObject>& exchanges();

inline std::shared_ptr<IndexMapObject> get(phl_index_map handle) { return index_maps().get(handle); }
inline std::shared_ptr<CartesianObject> get(phl_cartesian handle) { return cartesians().get(handle); }
inline std::shared_ptr<ExchangeObject> get(phl_exchange handle) { return exchanges().get(handle); }

/// Enumerations arrive as int: throws Error for numbers that they do not have.
Element element_from(phl_element element);
Reduction reduction_from(int number);
Direction direction_from(int number);

}  // namespace parhelion::c
