// Names of ranks in error texts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parhelion {

/// "rank 3", "ranks 3 to 5", "ranks 3, 5, 9 and 12 more". `ranks`: ascending.
inline std::string named_ranks(const std::vector<int>& ranks) {
    constexpr std::size_t most = 8;
    const bool in_a_row =
        ranks.size() > 2 && ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
    if (in_a_row)
        return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size() && i < most; ++i)
        text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    return ranks.size() <= most ? text
                                : text + " and " + std::to_string(ranks.size() - most) + " more";
}

}  // namespace parhelion
