// Handles that tell whether they are still good.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guard.hpp"

namespace parhelion::c {

/// Objects behind handles of one kind. A handle is no address: it holds a slot, how often the slot was used, and the
/// kind, so that one that was freed, copied or mixed up is noticed and never followed.
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
        handle = reinterpret_cast<Handle>(value_of(slot));
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

    std::uintptr_t value_of(std::size_t slot) const { return std::uintptr_t{slots_[slot].uses} << 32 | slot << 4 | T::kind; }
    std::size_t find(std::uintptr_t value) const {
        const std::string what = std::string(T::name) + " handle ";
        if (value == 0) throw HandleError(what + "is null: make one first, and do not use it after it was freed");
        if ((value & 0xf) != T::kind) throw HandleError(what + "is of another kind: pass what the create function gave");
        const std::size_t slot = (value & 0xffffffff) >> 4;
        if (slot >= slots_.size() || !slots_[slot].object || slots_[slot].uses != value >> 32)
            throw HandleError(what + "was freed already: free it once, and do not keep copies of it");
        return slot;
    }

    mutable std::mutex mutex_;
    std::vector<Slot> slots_;
};

}  // namespace parhelion::c
