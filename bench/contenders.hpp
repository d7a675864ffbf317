#pragma once

#include <string>
#include <vector>

#include "contender.hpp"

namespace parhelion::bench {

/// The entries that a job names, in its order; "all", or no name, stands for all but those that run only by name.
/// Throws Error listing the names there are when one is unknown.
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names);

}  // namespace parhelion::bench
