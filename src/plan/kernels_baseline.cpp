#include "plan/kernels.hpp"

namespace {
constexpr long vector_bytes = 16;
}
#include "plan/combine.inl"

namespace parhelion {
const Kernels kernels_baseline{{strided, indexed, runs}, "baseline", combining, negating};
}
