#pragma once

#include <functional>
#include <vector>

#include "benchmarks.hpp"
#include "launch_facts.hpp"
#include "options.hpp"

namespace parhelion::bench {

constexpr int all_right = 0, wrong_values = 1, bad_input = 2, failed = 3;

using PlanCases = std::function<std::vector<PlannedCase>(const Job&, const Communicator&)>;

/// Collective over MPI_COMM_WORLD. From a command line to an exit status: what cannot be used is
/// told by rank 0, and all ranks return. Ends all ranks when something fails on one of them.
int measure(const Request& asked, const Beginning& beginning, const PlanCases& plan);

}  // namespace parhelion::bench
