// How values of one cell become one: the library's reductions, and those that a program defines.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "parhelion/core/element.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

class UserReduction;

/// How values of one cell become one: those that come back to their owner in a reverse exchange, or
/// those of a point that several ranks hold. `replace` takes the last one. One that the program
/// defines is an object of its own (reduction_of), which must live as long as what it was passed to
/// is under way.
class Reduction {
public:
    enum Kind : std::uint8_t {
        PHL_REDUCTIONS(PHL_CPP_NAME) user
    };  ///< of core/kinds.h, and the program's own

    constexpr Reduction(Kind kind) : kind_(kind) {}  // NOLINT: `Reduction::sum` is one
    constexpr Reduction(const UserReduction& by)
        : kind_(user), by_(&by) {}  // NOLINT: as what the program defines
    constexpr Kind kind() const { return kind_; }
    /// Null unless the program defines it.
    constexpr const UserReduction* by() const { return by_; }
    friend constexpr bool operator==(const Reduction&, const Reduction&) = default;

private:
    Kind kind_;
    const UserReduction* by_ = nullptr;
};

/// An associative function on elements of one type. It need not be commutative: values are combined
/// by ascending rank, and within a rank as in its pattern.
class UserReduction {
public:
    explicit UserReduction(Element element) : element_(element) {}
    virtual ~UserReduction() = default;
    UserReduction(const UserReduction&) = default;
    UserReduction& operator=(const UserReduction&) = default;

    const Element& element() const { return element_; }
    /// into = into ⊕ from, `bytes` of elements next to each other on both sides, aligned or not. It
    /// must not throw.
    virtual void combine(std::byte* into, const std::byte* from, byte_count bytes) const = 0;
    /// Whether a call is dear, so that elements that lie apart are brought together first.
    virtual bool wants_many() const { return false; }
    /// Whether `combine` could not do its part since it was passed: ranks that were sent values of
    /// it are then told.
    virtual bool has_failed() const { return false; }

private:
    Element element_;
};

/// What reduction_of makes.
template <class T, class Function>
class ElementReduction final : public UserReduction {
    static_assert(std::is_trivially_copyable_v<T> &&
                      std::is_invocable_r_v<T, const Function&, const T&, const T&>,
                  "a reduction of T takes two T and gives one");

public:
    explicit ElementReduction(Function function)
        : UserReduction(element_of<T>()), function_(std::move(function)) {}
    /// Calls the function on each element.
    void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
        for (byte_count i = 0; i < bytes; i += static_cast<byte_count>(sizeof(T))) {
            T a, b;
            std::memcpy(static_cast<void*>(&a), into + i, sizeof(T));
            std::memcpy(static_cast<void*>(&b), from + i, sizeof(T));
            a = function_(a, b);
            std::memcpy(into + i, &a, sizeof(T));
        }
    }

private:
    Function function_;
};

/// The reduction `function(T, T) → T` of fields of T. Local. Fields of other elements are refused
/// where it is used.
///
///     const auto nearest = reduction_of<Hit>([](const Hit& a, const Hit& b) { return b.distance <
///     a.distance ? b : a; }); exchange.reverse(nearest, view(domain, hits));
template <class T, class Function>
ElementReduction<T, Function> reduction_of(Function function) {
    return ElementReduction<T, Function>(std::move(function));
}

}  // namespace parhelion
