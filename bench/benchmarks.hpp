#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "contender.hpp"
#include "entrant.hpp"
#include "job.hpp"
#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// A case that has been checked but holds nothing yet: cases of a job need not fit into memory
/// together.
struct PlannedCase {
    /// Collective; throws Error on every rank or on none.
    std::function<void(const Job&, Ground, const ReportOutcome&)> run;
    std::size_t contenders = 0;
};

/// A case whose contenders take turns; `make` makes it when it is its turn.
PlannedCase race(std::function<Case()> make, const std::vector<Entry>& all, const Job& job);

/// Local, the same on every rank: all cases of the job, checked before the first is measured.
/// Throws Error naming what cannot be used.
std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm);

/// Case lines that the record will have: one per case and contender.
std::size_t lines_expected(const std::vector<PlannedCase>& cases);

/// Names and roles of all contenders, by benchmark. Needs no MPI.
nlohmann::json list_contenders();

}  // namespace parhelion::bench
