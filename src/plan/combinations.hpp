// Operators on values, or vectors of them, for hosts and devices.
#pragma once

namespace parhelion {
namespace {

// Min and Max keep the destination for NaN and for zeros of different sign. Sum and Prod take
// unsigned integers, which wrap around, as MPI's do in practice.
struct Sum {
  static auto of(auto a, decltype(a) b) { return static_cast<decltype(a)>(a + b); }
};
struct Min {
  static auto of(auto a, decltype(a) b) { return b < a ? b : a; }
};
struct Max {
  static auto of(auto a, decltype(a) b) { return a < b ? b : a; }
};
struct Prod {
  static auto of(auto a, decltype(a) b) { return static_cast<decltype(a)>(a * b); }
  // Avoids overflow of the promoted int.
  static auto of(unsigned short a, unsigned short b) {
    return static_cast<unsigned short>(1u * a * b);
  }
};
struct And {
  static auto of(auto a, decltype(a) b) { return static_cast<decltype(a)>(a & b); }
};
struct Or {
  static auto of(auto a, decltype(a) b) { return static_cast<decltype(a)>(a | b); }
};

// The negated source.
struct Opposite {
  static auto of(auto a, decltype(a) b) { return static_cast<decltype(a)>(-b); }
};

}  // namespace
}  // namespace parhelion
