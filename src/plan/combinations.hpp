// How two values become one, on hosts and devices alike.
#pragma once

namespace parhelion {
namespace {

// Of one value, or of each in a vector of them. Minimum and maximum keep the destination's where a
// value is no number and where zeros differ in sign. Sums and products get unsigned integers, which
// wrap around, as MPI's do in practice.
struct Sum {
    template <class V>
    static V of(V a, V b) {
        return static_cast<V>(a + b);
    }
};
struct Min {
    template <class V>
    static V of(V a, V b) {
        return b < a ? b : a;
    }
};
struct Max {
    template <class V>
    static V of(V a, V b) {
        return a < b ? b : a;
    }
};
struct Prod {
    template <class V>
    static V of(V a, V b) {
        if constexpr (__is_same(V, unsigned short))
            return static_cast<V>(1u * a * b);  // two ints could overflow
        else return static_cast<V>(a * b);
    }
};
struct And {
    template <class V>
    static V of(V a, V b) {
        return static_cast<V>(a & b);
    }
};
struct Or {
    template <class V>
    static V of(V a, V b) {
        return static_cast<V>(a | b);
    }
};

// No combination: the opposite of what comes.
struct Opposite {
    template <class V>
    static V of(V, V b) {
        return static_cast<V>(-b);
    }
};

}  // namespace
}  // namespace parhelion
