#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "launch.hpp"
#include "measurement.hpp"
#include "options.hpp"
#include "parhelion/core/communicator.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// A case that has been checked but holds nothing yet: cases of a job need not fit into memory
/// together.
struct PlannedCase {
    /// Makes it when it is its turn. Collective; throws Error on every rank or on none.
    std::function<Case()> make;
    std::vector<Entry> entries;  // all that it will have
};

/// Local, the same on every rank: all cases of the job, checked before the first is measured.
/// Throws Error naming what cannot be used.
std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm);

/// Case lines that the record will have: one per case and variant that the job names.
std::size_t lines_expected(const std::vector<PlannedCase>& cases, const Job& job);

/// Names and roles of all variants, by benchmark. Needs no MPI.
nlohmann::json list_variants();

constexpr int all_right = 0, wrong_values = 1, bad_input = 2, failed = 3;

using PlanCases = std::function<std::vector<PlannedCase>(const Job&, const Communicator&)>;

/// Collective over MPI_COMM_WORLD. From a command line to an exit status: what cannot be used is
/// told by rank 0, and all ranks return. Ends all ranks when something fails on one of them.
int measure(const Request& asked, const Beginning& beginning, const PlanCases& plan);

}  // namespace parhelion::bench
