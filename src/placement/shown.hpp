// Extents in messages: 2x3x4.
#pragma once

#include <string>
#include <vector>

namespace parhelion::placement {

inline std::string shown(const std::vector<int>& extents) {
    std::string text;
    for (const int extent : extents) {
        if (!text.empty()) text += 'x';
        text += std::to_string(extent);
    }
    return text;
}

}  // namespace parhelion::placement
