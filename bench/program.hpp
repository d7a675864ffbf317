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

/// A validated case without arrays: a job's cases need not fit into memory together.
struct PlannedCase {
  /// Creates the case. Collective; throws Error on every rank or on none.
  std::function<Case()> make;
  std::vector<Entry> entries;  // all variants of the case
};

/// Local, the same on every rank. Validates all cases of the job before the first measurement;
/// throws Error naming the invalid option.
std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm);

/// Number of the record's case lines: one per case and variant of the job.
std::size_t lines_expected(const std::vector<PlannedCase>& cases, const Job& job);

/// Names, roles and availability of all variants, by benchmark. Needs no MPI.
nlohmann::json list_variants();

constexpr int all_right = 0, wrong_values = 1, bad_input = 2, failed = 3;

using PlanCases = std::function<std::vector<PlannedCase>(const Job&, const Communicator&)>;

/// Collective over MPI_COMM_WORLD. Measures the job and returns an exit status. On invalid input
/// rank 0 prints the error and all ranks return; on a failure of one rank aborts all.
int measure(const Request& asked, const Beginning& beginning, const PlanCases& plan);

}  // namespace parhelion::bench
