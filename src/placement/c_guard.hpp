// What the C functions share: errors become a status and a message, arrays become values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parhelion/placement/score.hpp"

namespace parhelion::placement {

/// Runs `work`; an exception becomes status 1 and the message that phl_place_error gives. None crosses into C.
int guarded(const std::function<void()>& work);

Stencil stencil_from(int dimensions, int count, const int* offsets, const std::int64_t* bytes);
std::vector<bool> flags_from(int count, const int* flags);
std::map<std::string, std::vector<int>> blocks_from(int dimensions, const char* levels, const int* blocks);
void export_score(const LevelScore& score, std::int64_t* out);

}  // namespace parhelion::placement
