#include "program.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "binding.hpp"
#include "parhelion/core/error.hpp"
#include "record.hpp"

namespace parhelion::bench {

namespace {

int run(const Job& job, const Communicator& comm, const Beginning& beginning, const PlanCases& plan,
        Record& record) {
    const auto cases = plan(job, comm);
    const Binding binding = bind_ranks(comm, job.bind);
    nlohmann::json facts = launch_facts(binding, beginning);
    if (job.pair) facts["pair"] = *job.pair;
    facts["arguments"] = job.arguments;
    record.launch(std::move(facts));
    record.plan(lines_expected(cases));
    StartLine start_line(comm);
    FlagProbe probe(comm, binding);
    std::optional<Levels> levels;
    if (job.per_node) levels.emplace(comm);
    const Ground ground{comm, start_line, probe, beginning.mpi_init_s, levels ? &*levels : nullptr};
    int status = all_right;
    for (const PlannedCase& planned : cases)
        planned.run(job, ground, [&](const Case& which, const Outcome& outcome) {
            record.outcome(which, outcome);
            if (!outcome.skipped && !outcome.verified) status = wrong_values;
        });
    return status;
}

// Ranks that were started with other words would wait for each other for ever.
void agree_on(const Request& asked, const Communicator& comm) {
    std::string words = asked.complaint;
    for (const std::string& word : asked.arguments) words += word + '\n';
    std::uint64_t hash[2] = {std::hash<std::string>{}(words), 0};
    hash[1] = ~hash[0];
    MPI_Allreduce(MPI_IN_PLACE, hash, 2, MPI_UINT64_T, MPI_MIN, comm.handle());
    if (hash[0] != ~hash[1])
        throw Error(
            "the ranks were started with different options: start all of them with the same ones");
}

int run_as_asked(const Request& asked, const Beginning& beginning, const PlanCases& plan) {
    const Communicator comm(MPI_COMM_WORLD);
    std::optional<Record> record;
    int status = all_right;
    try {
        agree_on(asked, comm);
        if (!asked.complaint.empty()) throw Error(asked.complaint);
        Job job = job_of(asked.job, comm.size());
        job.arguments = asked.arguments;
        record.emplace(asked.record, comm, job);
        status = run(job, comm, beginning, plan, *record);
    } catch (const Error& e) {  // thrown by every rank or by none: one of them says it, and all of
                                // them leave in order
        if (comm.rank() == 0) std::fprintf(stderr, "phl-bench: %s\n", e.what());
        status = bad_input;
    }
    if (record) record->end(status);
    return status;
}

}  // namespace

int measure(const Request& asked, const Beginning& beginning, const PlanCases& plan) {
    try {
        return run_as_asked(asked, beginning, plan);
    } catch (const std::exception&
                 e) {  // no Error: it struck this rank alone, and the others would wait for ever
        std::fprintf(stderr, "phl-bench: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, failed);
    }
    return failed;
}

}  // namespace parhelion::bench
