#include "setup/case.hpp"

#include <algorithm>

#include "errors.hpp"
#include "parhelion/core/error.hpp"
#include "samples.hpp"
#include "setup/rehearsal.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

OwnWay way_of(const std::string& transport) {
    std::string known;
    for (const OwnWay& way : own_ways()) {
        if (way.transport == transport) return way;
        known += (known.empty() ? "" : ", ") + way.transport;
    }
    throw Error("job: unknown transport '" + transport + "': this build has " + known);
}

Case described(const SetupCase& which, int ranks) {
    Case described;
    json& params = described.params = halo_case_params(which.params, ranks);
    params["transport"] = which.way.transport;
    described.name = "setup of " + halo_case_name(which.params) + " over " + which.way.transport;
    return described;
}

std::optional<std::string> reason_against(const SetupCase& which, const Communicator& comm) {
    try {
        require_usable(which.way, comm);
    } catch (const CannotRun& e) {
        return e.what();
    }
    return std::nullopt;
}

Outcome outcome_of(const Stage& stage, const std::vector<double>& mine, std::int64_t wrong, const Communicator& comm) {
    Outcome outcome;
    outcome.contender = stage.name;
    outcome.role = stage.role;
    outcome.iterations = 1;
    outcome.verified = wrong == 0;
    if (wrong > 0) outcome.error = std::to_string(wrong) + " elements were wrong after an exchange";
    outcome.samples_by_rank = samples_by_rank(mine, comm);
    return outcome;
}

Outcome skipped_outcome(const Stage& stage, const std::string& reason) {
    Outcome outcome;
    outcome.contender = stage.name;
    outcome.role = stage.role;
    outcome.skipped = reason;
    return outcome;
}

}  // namespace

SetupCase read_setup_case(const json& object, int ranks) {
    json grid = object;
    const auto transport = value_of<std::string>(object, "transport", "auto");
    if (grid.is_object()) grid.erase("transport");
    return {read_halo_params(grid, ranks), way_of(transport)};
}

void run_setup_case(const SetupCase& which, const std::vector<Stage>& stages, const Job& job, Ground ground, const ReportOutcome& report) {
    const Case named = described(which, ground.comm.size());
    if (const auto reason = reason_against(which, ground.comm)) {
        for (const Stage& stage : stages) report(named, skipped_outcome(stage, *reason));
        return;
    }
    Rehearsal rehearsal(which, ground);
    for (int repetition = 0; repetition < job.repetitions; ++repetition) rehearsal.once();
    std::int64_t wrong = rehearsal.wrong();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, ground.comm.handle());
    for (const Stage& stage : stages) {
        const bool once = stage.name == "mpi_init";
        report(named, outcome_of(stage, once ? std::vector{ground.mpi_init_s} : rehearsal.seconds(stage.name), wrong, ground.comm));
    }
}

}  // namespace parhelion::bench
