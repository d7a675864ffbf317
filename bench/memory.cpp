#include "memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace parhelion::bench {

namespace {

constexpr std::size_t guard_bytes = 64;  // a cache line: keeps the block's alignment
constexpr std::byte guard_pattern{0xC5};

std::size_t round_up(std::size_t bytes) {
    return (bytes + guard_bytes - 1) / guard_bytes * guard_bytes;
}

std::int64_t count_other_than_guard(const std::byte* first) {
    return guard_bytes - std::count(first, first + guard_bytes, guard_pattern);
}

}  // namespace

void PrivateMemory::Free::operator()(std::byte* p) const { std::free(p); }

PrivateMemory::PrivateMemory(int blocks, std::size_t bytes) : bytes_(bytes) {
    for (int i = 0; i < blocks; ++i) {
        auto* whole = static_cast<std::byte*>(
            std::aligned_alloc(guard_bytes, round_up(bytes) + 2 * guard_bytes));
        if (!whole) throw std::bad_alloc();
        blocks_.emplace_back(whole);
        std::memset(whole, static_cast<int>(guard_pattern), guard_bytes);
        std::memset(whole + guard_bytes + bytes, static_cast<int>(guard_pattern), guard_bytes);
    }
}

std::byte* PrivateMemory::block(int index) const {
    return blocks_[static_cast<std::size_t>(index)].get() + guard_bytes;
}

std::int64_t PrivateMemory::count_damaged_guards() const {
    std::int64_t damaged = 0;
    for (const auto& whole : blocks_)
        damaged += count_other_than_guard(whole.get()) +
                   count_other_than_guard(whole.get() + guard_bytes + bytes_);
    return damaged;
}

}  // namespace parhelion::bench
