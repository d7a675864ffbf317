#pragma once

#include "contender.hpp"
#include "entrant.hpp"
#include "job.hpp"
#include "record.hpp"

namespace parhelion::bench {

/// Collective. Makes the case's contenders, verifies each, lets them take turns until each has its
/// samples, verifies each again and reports the outcomes. A contender that fails is out, and the
/// others go on.
void run_case(const Case& which, const Job& job, Ground ground, const ReportOutcome& report);

}  // namespace parhelion::bench
