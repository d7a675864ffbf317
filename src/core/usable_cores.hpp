// Which cores this process may run on.
#pragma once

#include <cstdint>
#include <vector>

namespace parhelion {

/// A bit for each, in as many words as the kernel has: the same number for all ranks of a node. Local.
std::vector<std::uint64_t> usable_cores();

}  // namespace parhelion
