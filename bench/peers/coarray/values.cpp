// What cells must hold, for the coarray program: the formula of the other variants, on 32-bit
// words.
#include "values.hpp"

using namespace parhelion::bench;

extern "C" {

void phl_coarray_fill(std::int32_t* cells, std::int64_t count, std::int64_t first_id, int words,
                      int round) {
    write_values(cells, count, static_cast<std::uint64_t>(first_id),
                 lane_keys(0, words, static_cast<unsigned>(round)));
}

std::int64_t phl_coarray_wrong(const std::int32_t* cells, std::int64_t count, std::int64_t first_id,
                               int words, int round) {
    return count_wrong_values(cells, count, static_cast<std::uint64_t>(first_id),
                              lane_keys(0, words, static_cast<unsigned>(round)));
}

void phl_coarray_poison(std::int32_t* values, std::int64_t count) { write_poison(values, count); }

std::int64_t phl_coarray_not_poison(const std::int32_t* values, std::int64_t count) {
    return count_not_poison(values, count);
}
}
