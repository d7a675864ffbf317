// What placement's C functions share: arrays become values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../guard.hpp"
#include "parhelion/placement/between_nodes.hpp"
#include "parhelion/placement/c_interface.h"
#include "parhelion/placement/placement.hpp"

struct phl_machine {
    parhelion::placement::Machine machine;
    std::string source;
};

namespace parhelion::placement {

/// `index` as one of `count` things, or an Error that calls them `what`.
std::size_t one_of(int index, std::size_t count, const char* what);

inline Objective objective_from(int objective) {
    return objective ? Objective::jmax : Objective::jsum;
}
Stencil stencil_from(int dimensions, int count, const int* offsets, const std::int64_t* bytes);
std::vector<bool> flags_from(int count, const int* flags);
std::map<std::string, std::vector<int>> blocks_from(int dimensions, const char* levels,
                                                    const int* blocks);
ExchangeCosts costs_from(const phl_exchange_costs& costs);
void export_score(const LevelScore& score, std::int64_t* out);

}  // namespace parhelion::placement
