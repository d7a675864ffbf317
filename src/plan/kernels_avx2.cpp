#include "plan/kernels.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx2,bmi2")
namespace {
constexpr long vector_bytes = 32;
}
#include "plan/combine.inl"

namespace parhelion {
const Kernels kernels_avx2{{strided, indexed, runs}, "avx2", combining, negating};
}
#endif
