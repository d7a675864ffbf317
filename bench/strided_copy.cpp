#include "strided_copy.hpp"

#include <cstring>

namespace parhelion::bench {

namespace {

using Strides = std::array<std::ptrdiff_t, 3>;

// A run length known to the compiler turns memcpy into a few moves: thin faces are one to five cells wide.
template <std::size_t Bytes>
void copy_short_runs(const std::byte* from, const Strides& from_stride, std::byte* to, const Strides& to_stride,
                     const std::array<std::ptrdiff_t, 3>& count) {
    for (std::ptrdiff_t k = 0; k < count[2]; ++k)
        for (std::ptrdiff_t j = 0; j < count[1]; ++j) {
            const std::byte* source = from + k * from_stride[2] + j * from_stride[1];
            std::byte* target = to + k * to_stride[2] + j * to_stride[1];
            for (std::ptrdiff_t i = 0; i < count[0]; ++i)
                std::memcpy(target + i * to_stride[0], source + i * from_stride[0], Bytes);
        }
}

void copy_long_runs(std::size_t bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
                    const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
    for (std::ptrdiff_t k = 0; k < count[2]; ++k)
        for (std::ptrdiff_t j = 0; j < count[1]; ++j) {
            const std::byte* source = from + k * from_stride[2] + j * from_stride[1];
            std::byte* target = to + k * to_stride[2] + j * to_stride[1];
            for (std::ptrdiff_t i = 0; i < count[0]; ++i)
                std::memcpy(target + i * to_stride[0], source + i * from_stride[0], bytes);
        }
}

void copy_runs(std::size_t bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
               const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
    switch (bytes) {
        case 1: return copy_short_runs<1>(from, from_stride, to, to_stride, count);
        case 2: return copy_short_runs<2>(from, from_stride, to, to_stride, count);
        case 4: return copy_short_runs<4>(from, from_stride, to, to_stride, count);
        case 8: return copy_short_runs<8>(from, from_stride, to, to_stride, count);
        case 12: return copy_short_runs<12>(from, from_stride, to, to_stride, count);
        case 16: return copy_short_runs<16>(from, from_stride, to, to_stride, count);
        case 20: return copy_short_runs<20>(from, from_stride, to, to_stride, count);
        case 24: return copy_short_runs<24>(from, from_stride, to, to_stride, count);
        case 32: return copy_short_runs<32>(from, from_stride, to, to_stride, count);
        case 40: return copy_short_runs<40>(from, from_stride, to, to_stride, count);
        case 48: return copy_short_runs<48>(from, from_stride, to, to_stride, count);
        case 64: return copy_short_runs<64>(from, from_stride, to, to_stride, count);
        case 80: return copy_short_runs<80>(from, from_stride, to, to_stride, count);
        default: return copy_long_runs(bytes, from, from_stride, to, to_stride, count);
    }
}

Strides dense_strides(const Region& region) {
    auto run = static_cast<std::ptrdiff_t>(region.run_bytes);
    return {run, run * region.count[0], run * region.count[0] * region.count[1]};
}

}  // namespace

std::byte* pack(const Region& from, std::byte* to) {
    copy_runs(from.run_bytes, from.start, from.stride, to, dense_strides(from), from.count);
    return to + from.bytes();
}

const std::byte* unpack(const std::byte* from, const Region& to) {
    copy_runs(to.run_bytes, from, dense_strides(to), to.start, to.stride, to.count);
    return from + to.bytes();
}

void copy(const Region& from, const Region& to) {
    copy_runs(from.run_bytes, from.start, from.stride, to.start, to.stride, from.count);
}

}  // namespace parhelion::bench
