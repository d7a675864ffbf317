#include "values.hpp"

#include <algorithm>
#include <sstream>

#include "parhelion/core/error.hpp"

namespace parhelion::placement {
std::size_t one_of(int index, std::size_t count, const char* what) {
    if (index < 0 || static_cast<std::size_t>(index) >= count)
        throw Error(std::string(what) + " " + std::to_string(index) +
                    " does not exist: there are " + std::to_string(count) + ", counted from 0");
    return static_cast<std::size_t>(index);
}

Stencil stencil_from(int dimensions, int count, const int* offsets, const std::int64_t* bytes) {
    Stencil stencil;
    if (count > 0 && (dimensions < 1 || dimensions > max_dimensions))
        throw Error("a stencil of " + std::to_string(dimensions) +
                    " dimensions is given: use 1 to 4");
    for (int o = 0; o < count; ++o) {
        Offset offset;
        std::copy_n(offsets + o * dimensions, dimensions, offset.step.begin());
        if (bytes) offset.bytes = bytes[o];
        stencil.offsets.push_back(offset);
    }
    return stencil;
}

std::vector<bool> flags_from(int count, const int* flags) {
    std::vector<bool> values;
    for (int i = 0; flags && i < count; ++i) values.push_back(flags[i] != 0);
    return values;
}

std::map<std::string, std::vector<int>> blocks_from(int dimensions, const char* levels,
                                                    const int* blocks) {
    std::map<std::string, std::vector<int>> by_level;
    std::istringstream names(levels ? levels : "");
    for (std::string name; names >> name; blocks += dimensions) {
        if (!by_level.emplace(name, std::vector<int>(blocks, blocks + dimensions)).second)
            throw Error("blocks name the level " + name + " twice: give its blocks once");
    }
    return by_level;
}

ExchangeCosts costs_from(const phl_exchange_costs& costs) {
    ExchangeCosts by_level{{}, costs.copied_byte_s, costs.fixed_s};
    std::istringstream names(costs.levels ? costs.levels : "");
    std::size_t i = 0;
    for (std::string name; names >> name; ++i)
        by_level.levels[level_name(name)] = {costs.message_s[i], costs.byte_s[i]};
    return by_level;
}

void export_score(const LevelScore& score, std::int64_t* out) {
    out[0] = score.edges_sum, out[1] = score.edges_max, out[2] = score.bytes_sum,
    out[3] = score.bytes_max;
}

}  // namespace parhelion::placement
