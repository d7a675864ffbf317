// From phl_field to what the library calls a field.
#pragma once

#include "objects.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/redistribution/redistribution.hpp"

namespace parhelion::c {

inline const CartesianDomain& domain_of(const CartesianObject& object) { return object.domain; }
inline const IndexedDomain& domain_of(const IndexMapObject& object) { return object.map.domain(); }

/// How an array of a grid lies. Throws Error for numbers that there are not.
ArrayLayout layout_on(const CartesianDomain& domain, const phl_field& given);

/// The domain or map of a handle, and views of its arrays.
class Source {
public:
    explicit Source(phl_cartesian domain) : grid_(get(domain)) {}
    explicit Source(phl_index_map map) : map_(get(map)) {}
    Source(const phl_group& given, int number);

    Communicator communicator() const { return grid_ ? grid_->domain.communicator() : map_->map.communicator(); }
    Group group(std::vector<Field> fields) const {
        return grid_ ? Group(grid_->domain, std::move(fields)) : Group(map_->map.pattern(), std::move(fields));
    }
    /// One of the two, the other is null.
    const CartesianDomain* grid() const { return grid_ ? &grid_->domain : nullptr; }
    const IndexedDomain* cells() const { return map_ ? &map_->map.domain() : nullptr; }
    /// Throws Error for what cannot be an array of it.
    Field view(const phl_field& given) const;

private:
    std::shared_ptr<CartesianObject> grid_;
    std::shared_ptr<IndexMapObject> map_;
};

/// Unlike that of the first domain, without which there is no communicator, a bad handle is an Error, which all ranks can be told.
template <class... Given>
Source later_source(const std::string& what, const Given&... given) {
    try {
        return Source(given...);
    } catch (const HandleError& error) {
        throw Error(what + ": " + error.what());
    }
}

struct RedistributionObject {
    static constexpr unsigned kind = 4;
    static constexpr const char* name = "redistribution";
    Redistribution redistribution;
    Source from, to;
    bool called = false;
};

/// Runs `read` on the arrays of a call. All ranks are told what it throws at the first call, which is collective.
template <class Read>
void read_arrays(const RedistributionObject& object, Read&& read) {
    if (object.called) return read();
    collectively(object.from.communicator(), "the first call of a redistribution",
                 [&] { validate_together(object.from.communicator(), read); });
}

struct PointSumsObject {
    static constexpr unsigned kind = 5;
    static constexpr const char* name = "sums of points";
    PointSums sums;
    Source domain;
    std::vector<phl_field> made = {};     ///< with Fortran's arrays
    std::vector<ArrayShape> shapes = {};  ///< of these
};

}  // namespace parhelion::c
