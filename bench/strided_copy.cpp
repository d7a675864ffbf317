#include "strided_copy.hpp"

#include <cstring>

namespace parhelion::bench {

namespace {

using Strides = std::array<std::ptrdiff_t, 3>;

// A run length known to the compiler turns memcpy into a few moves: thin faces are one to five
// cells wide.
template <class Bytes>
void copy_runs_of(Bytes bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
                  const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
    for (std::ptrdiff_t k = 0; k < count[2]; ++k)
        for (std::ptrdiff_t j = 0; j < count[1]; ++j) {
            const std::byte* source = from + k * from_stride[2] + j * from_stride[1];
            std::byte* target = to + k * to_stride[2] + j * to_stride[1];
            for (std::ptrdiff_t i = 0; i < count[0]; ++i)
                std::memcpy(target + i * to_stride[0], source + i * from_stride[0], bytes);
        }
}

template <std::size_t bytes>
constexpr std::integral_constant<std::size_t, bytes> known;

void copy_runs(std::size_t bytes, const std::byte* from, const Strides& from_stride, std::byte* to,
               const Strides& to_stride, const std::array<std::ptrdiff_t, 3>& count) {
    const auto copy = [&](auto run) { copy_runs_of(run, from, from_stride, to, to_stride, count); };
    switch (bytes) {
        case 1: return copy(known<1>);
        case 2: return copy(known<2>);
        case 4: return copy(known<4>);
        case 8: return copy(known<8>);
        case 12: return copy(known<12>);
        case 16: return copy(known<16>);
        case 20: return copy(known<20>);
        case 24: return copy(known<24>);
        case 32: return copy(known<32>);
        case 40: return copy(known<40>);
        case 48: return copy(known<48>);
        case 64: return copy(known<64>);
        case 80: return copy(known<80>);
        default: return copy(bytes);
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
