// The inner loops, compiled once per instruction set; the best one is chosen when the library is loaded.
#pragma once

#include "parhelion/plan/program.hpp"

namespace parhelion {

struct Kernels {
    const char* name;
    /// `planes` × `rows` pieces of `width` bytes; stride index 0 is the plane, 1 the row.
    void (*strided)(std::byte* dst, const std::byte* src, byte_count planes, byte_count rows, const byte_count* dst_stride,
                    const byte_count* src_stride, byte_count width);
    void (*indexed)(std::byte* dst, const std::byte* src, const IndexedOp& op);
    void (*runs)(std::byte* dst, const std::byte* src, const Run* runs, byte_count count);
};

const Kernels& kernels();

/// One op, by the kernels chosen.
void run_strided(const StridedOp& op, Bases src, Bases dst);

extern const Kernels kernels_baseline;
#if defined(__x86_64__)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

}  // namespace parhelion
