#include "plan/kernels.hpp"

#if defined(__x86_64__)
#pragma GCC target("avx2,bmi2,avx512f,avx512bw,avx512vl,prefer-vector-width=512")
namespace {
constexpr long vector_bytes = 64;
}
#include "plan/combine.inl"

namespace parhelion {
const Kernels kernels_avx512{{strided, indexed, runs}, "avx512", combining, negating};
}
#endif
