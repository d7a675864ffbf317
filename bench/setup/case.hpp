#pragma once

#include "halo/geometry.hpp"
#include "library.hpp"
#include "program.hpp"

namespace parhelion::bench {

/// A grid whose exchange is set up anew, over one of the library's ways.
struct SetupCase {
    HaloParams params;
    LibraryVariant way;
};

/// The stages on the way from MPI_Init to a running exchange; in records and lists they stand where
/// variants stand elsewhere.
std::vector<Entry> setup_stages();

/// What a setup case of a job says, checked. Throws Error for what cannot be run on `ranks` ranks.
/// Local.
SetupCase read_setup_case(const nlohmann::json& object, int ranks);

/// Collective. Sets everything up as often as the job has repetitions, each time on a new duplicate
/// of the world, so that nothing is remembered; times each stage, verifies the exchange, and
/// reports an outcome per stage.
void run_setup_case(const SetupCase& which, const std::vector<Entry>& stages, const Job& job,
                    Ground ground, const ReportOutcome& report);

}  // namespace parhelion::bench
