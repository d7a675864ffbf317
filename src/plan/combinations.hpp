// Operators that combine two values or vectors of values, shared by hosts and devices.
#pragma once

namespace parhelion {
namespace {

// Min and Max keep the destination for NaN and for zeros of different sign. Sum and Prod take
// unsigned integers, which wrap around, as MPI's do in practice.
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
      return static_cast<V>(1u * a * b);  // avoids overflow of the promoted int
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

// Ignores the destination and negates the source.
struct Opposite {
  template <class V>
  static V of(V, V b) {
    return static_cast<V>(-b);
  }
};

}  // namespace
}  // namespace parhelion
