#pragma once

#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Collective. Every rank's samples, of which each has as many: a list per rank on rank 0, nothing elsewhere.
std::vector<std::vector<double>> samples_by_rank(const std::vector<double>& mine, const Communicator& comm);

}  // namespace parhelion::bench
