#include "alltoall/buffers.hpp"

#include "values.hpp"

namespace parhelion::bench {

AlltoallBuffers::AlltoallBuffers(int rank, int ranks, std::size_t block_bytes)
    : rank_(rank), ranks_(ranks), block_bytes_(block_bytes),
      memory_(2, static_cast<std::size_t>(ranks) * block_bytes) {}

// Whole words where a block is made of them: large blocks are checked eight times as fast.
template <class Visit>
void AlltoallBuffers::with_words(Visit&& visit) const {
    if (block_bytes_ % sizeof(std::uint64_t) == 0) visit(std::uint64_t{});
    else visit(std::uint8_t{});
}

std::uint64_t AlltoallBuffers::first_id(int from, int to) const {
    return (static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(ranks_) +
            static_cast<std::uint64_t>(to))
           << 32;
}

void AlltoallBuffers::refresh(unsigned round) {
    const auto keys = lane_keys(0, 1, round);
    with_words([&]<class T>(T) {
        const auto words = static_cast<std::int64_t>(block_bytes_ / sizeof(T));
        for (int other = 0; other < ranks_; ++other) {
            write_values(reinterpret_cast<T*>(send(other)), words, first_id(rank_, other), keys);
            write_poison(reinterpret_cast<T*>(receive(other)), words);
        }
    });
}

std::int64_t AlltoallBuffers::count_wrong(unsigned round) const {
    const auto keys = lane_keys(0, 1, round);
    std::int64_t wrong = memory_.count_damaged_guards();
    with_words([&]<class T>(T) {
        const auto words = static_cast<std::int64_t>(block_bytes_ / sizeof(T));
        for (int other = 0; other < ranks_; ++other) {
            wrong += count_wrong_values(reinterpret_cast<const T*>(send(other)), words,
                                        first_id(rank_, other), keys);
            wrong += count_wrong_values(reinterpret_cast<const T*>(receive(other)), words,
                                        first_id(other, rank_), keys);
        }
    });
    return wrong;
}

}  // namespace parhelion::bench
