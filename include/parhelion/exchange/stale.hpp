// Ghosts that do not hold what their owners have.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// A value of a ghost that differs from its owner's, byte by byte.
struct StaleGhost {
    int field = 0;  ///< from 0, group after group
    int owner = 0;  ///< rank that has it, or, dimension by dimension, that passes it on
    std::vector<global_index> cell = {};  ///< where its owner has it: a coordinate per dimension,
                                          ///< or its global id; none in a pattern that was loaded
    int component = 0;
    std::string here = {}, there = {};  ///< the two values, for people
    std::string text = {};              ///< all of it in a sentence
};

/// What Exchange::stale found on this rank.
struct StaleGhosts {
    static constexpr std::size_t most_told = 8;  ///< of each field

    std::vector<global_index> count = {};  ///< of each field, how many values
    std::vector<StaleGhost> first = {};    ///< field by field, at most `most_told` of each

    bool empty() const { return first.empty(); }
};

}  // namespace parhelion
