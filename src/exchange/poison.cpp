#include "exchange/poison.hpp"

#include <cstdint>
#include <cstring>

namespace parhelion {
namespace {

template <class Word>
void repeat(std::byte* first, byte_count bytes, Word word) {
    for (byte_count at = 0; at + byte_count{sizeof word} <= bytes; at += byte_count{sizeof word})
        std::memcpy(first + at, &word, sizeof word);
}

}  // namespace

void fill_poison(std::byte* first, byte_count bytes, const Element& element) {
    const bool single = element.scalar == Scalar::float32 || element.scalar == Scalar::complex64;
    const bool twice = element.scalar == Scalar::float64 || element.scalar == Scalar::complex128;
    if (single) repeat(first, bytes, std::uint32_t{0x7fa0dbdb});
    else if (twice) repeat(first, bytes, std::uint64_t{0x7ff4dbdbdbdbdbdb});
    else repeat(first, bytes, std::uint8_t{0xdb});
}

}  // namespace parhelion
