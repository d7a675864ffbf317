// What every rank has to pass alike, and who did not.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// Is told, one by one, the properties that must be equal on all ranks: those that say how many
/// there are of others first. Each % in a name stands for one of `numbers`.
class Properties {
public:
    virtual ~Properties() = default;
    /// Tells one property.
    virtual void add(std::string_view name, std::int64_t value,
                     std::initializer_list<int> numbers = {}) = 0;
    virtual void add(std::string_view name, std::string_view value,
                     std::initializer_list<int> numbers = {}) = 0;
    template <std::integral T>
    void add(std::string_view name, T value, std::initializer_list<int> numbers = {}) {
        add(name, static_cast<std::int64_t>(value), numbers);
    }
    void add(std::string_view name, const char* value, std::initializer_list<int> numbers = {}) {
        add(name, std::string_view(value), numbers);
    }
};

/// Tells all properties of this rank, in an order that is the same on every rank.
using TellProperties = std::function<void(Properties&)>;

/// Collective, one reduction where all is well. Throws Error on every rank unless all ranks tell
/// the same properties: "WHAT differ between ranks", the first property in which the lowest rank
/// that differs from rank 0 does so, both values, and REMEDY. No rank gets to know more than rank
/// 0's properties and one of another rank. `check` is run before, alone; the Error that it may
/// throw on some rank is agreed on in the same reduction (validate_together).
void require_equal(const Communicator& comm, const std::string& what, const TellProperties& tell,
                   const std::string& remedy, const std::function<void()>& check = {});

}  // namespace parhelion
