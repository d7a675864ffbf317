// What is behind the handles, and what C and Fortran do with it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "guard.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/phl.h"
#include "parhelion/redistribution/redistribution.hpp"

namespace parhelion::c {

/// Objects behind handles of one kind. A handle is no address: it holds a slot, how often the slot
/// was used, and the kind, so that one that was freed, copied or mixed up is noticed and never
/// followed.
template <class T>
class HandleTable {
public:
    template <class Handle>
    void add(std::shared_ptr<T> object, Handle& handle) {
        const std::lock_guard lock(mutex_);
        std::size_t slot = 0;
        while (slot < slots_.size() && slots_[slot].object) ++slot;
        if (slot == slots_.size()) slots_.push_back({});
        slots_[slot].object = std::move(object);
        handle =
            reinterpret_cast<Handle>(std::uintptr_t{slots_[slot].uses} << 32 | slot << 4 | T::kind);
    }

    template <class Handle>
    std::shared_ptr<T> get(Handle handle) const {
        const std::lock_guard lock(mutex_);
        return slots_[find(reinterpret_cast<std::uintptr_t>(handle))].object;
    }

    template <class Handle>
    void remove(Handle handle) {
        std::shared_ptr<T> last;  // destroyed after the lock
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_[find(reinterpret_cast<std::uintptr_t>(handle))];
        ++slot.uses;
        last.swap(slot.object);
    }

private:
    struct Slot {
        std::shared_ptr<T> object;
        std::uint32_t uses = 1;
    };
    static_assert(sizeof(std::uintptr_t) == 8, "handles need 64 bits");

    std::size_t find(std::uintptr_t value) const {
        const std::string what = std::string(T::name) + " handle ";
        if (value == 0)
            throw HandleError(what +
                              "is null: make one first, and do not use it after it was freed");
        if ((value & 0xf) != T::kind)
            throw HandleError(what + "is of another kind: pass what the create function gave");
        const std::size_t slot = (value & 0xffffffff) >> 4;
        if (slot >= slots_.size() || !slots_[slot].object || slots_[slot].uses != value >> 32)
            throw HandleError(what +
                              "was freed already: free it once, and do not keep copies of it");
        return slot;
    }

    mutable std::mutex mutex_;
    std::vector<Slot> slots_;
};

struct IndexMapObject {
    static constexpr unsigned kind = 1;
    static constexpr const char* name = "index map";
    IndexMap map;
    ExchangeOptions options = {};
    std::vector<CellValues> arrays = {};  ///< of a call
    const IndexedDomain& domain() const { return map.domain(); }
    bool under_way() const { return map.under_way(); }
};

struct CartesianObject {
    static constexpr unsigned kind = 2;
    static constexpr const char* name = "Cartesian domain";
    CartesianDomain grid;
    const CartesianDomain& domain() const { return grid; }
};

/// Runs `check`, then `work`, whose result it returns. All ranks are told what either throws.
/// Collective.
template <class Check, class Work>
decltype(auto) collective(const Communicator& comm, const char* call, double timeout_s,
                          Check&& check, Work&& work) {
    return collectively(comm, call, timeout_s, [&]() -> decltype(auto) {
        validate_together(comm, check);
        return work();
    });
}

/// The domain or map of a handle, and views of its arrays.
class Source {
public:
    explicit Source(phl_cartesian domain);
    explicit Source(phl_index_map map);
    /// One of the two handles. Throws Error otherwise.
    Source(phl_cartesian domain, phl_index_map map, int group);

    Communicator communicator() const {
        return grid_ ? grid_->grid.communicator() : map_->map.communicator();
    }
    Group group(std::vector<Field> fields) const {
        return grid_ ? Group(grid_->grid, std::move(fields))
                     : Group(map_->map.pattern(), std::move(fields));
    }
    /// One of the two, the other is null.
    const CartesianDomain* grid() const { return grid_ ? &grid_->grid : nullptr; }
    const IndexedDomain* cells() const { return map_ ? &map_->domain() : nullptr; }
    /// Throw Error for what cannot be an array of it.
    Field view(const phl_field& given) const;
    std::vector<Field> views(const phl_field* given, int count, const char* name = "fields") const;

private:
    std::shared_ptr<CartesianObject> grid_;
    std::shared_ptr<IndexMapObject> map_;
};

/// Of a field of a grid one for each block, of one of an index map owned cells and ghosts.
std::byte* array_of(const phl_field& field, std::size_t array);
/// Of a field of a grid. Throws Error for what cannot be.
ArrayLayout grid_layout(const phl_field& given, int dimensions);

/// A Fortran array: type and bytes of its elements, and extents. Plain data: Fortran keeps those of
/// groups.
struct ArrayShape {
    static constexpr int most_dimensions = 15;
    std::int32_t type;
    std::int32_t rank;
    std::int64_t bytes;
    std::int64_t extents[most_dimensions];
    bool goes_on;  ///< of the field of the array before it: its ghosts (index map), or its next
                   ///< block
    friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

/// A field as it was when its exchange was made, and where its native arrays begin in those that
/// were passed: one for each block, or owned cells and ghosts.
struct MadeField {
    struct Place {
        std::size_t array;
        byte_count offset;  ///< from its start to the first owned cell, or the first ghost
    };
    MadeField(const phl_field& given, const Field& view);
    phl_field given;
    std::vector<Place> places = {};
    std::vector<ArrayShape> shapes = {};  ///< of its arrays, if they are Fortran's
};
using MadeFields = std::vector<MadeField>;

struct ExchangeObject {
    static constexpr unsigned kind = 3;
    static constexpr const char* name = "exchange";
    Exchange exchange;
    MadeFields made;
    std::vector<std::byte*> places = {};  ///< of the native arrays of a call
    std::string transport = {}, explanation = {};
    std::optional<Step> step = {};
    bool under_way() const { return step.has_value(); }
};

struct RedistributionObject {
    static constexpr unsigned kind = 4;
    static constexpr const char* name = "redistribution";
    Redistribution redistribution;
    Source from, to;
    bool called = false;

    /// Runs `work`, of whose errors all ranks are told until there was a call, which is collective.
    template <class Work>
    void read(Work&& work) const {
        if (called) work();
        else collective(from.communicator(), "the first call of a redistribution", 0, work, [] {});
    }
};

struct PointSumsObject {
    static constexpr unsigned kind = 5;
    static constexpr const char* name = "sums of points";
    PointSums sums;
    Source domain;
    MadeFields made = {};
    std::optional<Step> step = {};
    bool under_way() const { return sums.under_way(); }
};

// Which object a handle stands for.
IndexMapObject object_of(phl_index_map);
CartesianObject object_of(phl_cartesian);
ExchangeObject object_of(phl_exchange);
RedistributionObject object_of(phl_redistribution);
PointSumsObject object_of(phl_point_sums);

template <class Object>
HandleTable<Object>& table();

/// What is behind a handle. Throws HandleError for one that is not good.
template <class Handle>
auto get(Handle handle) {
    return table<decltype(object_of(handle))>().get(handle);
}

/// Puts an object under a handle of its own, unless the call fails yet.
template <class Object, class Handle>
void keep(Object object, Handle& handle) {
    auto kept = std::make_shared<Object>(std::move(object));
    const auto made = std::make_shared<Handle>();
    Unfinished::add([made] {
        if (*made != nullptr) table<Object>().remove(*made);
    });
    table<Object>().add(std::move(kept), *made);
    handle = *made;
}

/// Runs work on what is behind a handle, guarded.
template <class Handle, class Work>
int with(Handle handle, Work&& work) noexcept {
    return guarded([&] { work(*get(handle)); });
}

/// Ends a handle, or refuses while what is behind it is under way.
template <class Handle>
int free_handle(Handle* handle, const char* name) {
    using Object = decltype(object_of(*handle));
    return guarded([&] {
        require_output(handle, name);
        const auto object = get(*handle);
        if constexpr (requires { object->under_way(); })
            if (object->under_way())
                throw Error("this " + std::string(Object::name) +
                            " is under way: end it before it is freed");
        require_mpi();
        table<Object>().remove(*handle);
        *handle = nullptr;
    });
}

/// Null: none.
ExchangeOptions options_from(const phl_exchange_options* options);
inline double limit_of(const phl_exchange_options* options) {
    return options != nullptr ? options->timeout_s : 0;
}

/// The exchange of a subset, under a handle of its own.
void make_subset(phl_exchange whole, const Only& only, phl_exchange& subset);

/// What an exchange does with the fields of a call; Fortran knows the numbers.
enum class Call { forward = 0, begin, reverse, begin_reverse, check, retune, prepare };
void run(ExchangeObject& object, Call call, int reduction, const phl_field* fields, int count);

/// Enumerations arrive as int: throws Error for numbers that they do not have.
Element element_from(phl_element element);
Reduction reduction_from(int number);
int in_range(int number, int last, const char* what);

}  // namespace parhelion::c
