#include "plan/kernels.hpp"

namespace { constexpr long vector_bytes = 16; }
#include "plan/kernels.inl"

namespace parhelion {
const Kernels kernels_baseline{"baseline", strided, indexed, runs};
}
