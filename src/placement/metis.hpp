// METIS, where it is installed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange_state.hpp"

namespace parhelion::placement {

/// The part of every vertex when the graph is cut into `parts` parts of about equal size; nothing when METIS is not
/// there or fails. `why` then says so.
std::optional<std::vector<int>> cut_with_metis(const Neighborhood& graph, const std::vector<int>& vertices, int parts, std::string& why);

}  // namespace parhelion::placement
