// phl-bench JOB.json RECORD.jsonl: measures what the job asks for; see docs/architecture.md, "Measuring".
// Started by mpiexec, one process per rank. Exit status: 0; 1 when a value was wrong; 2 for bad input.

#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/case.hpp"
#include "benchmarks.hpp"
#include "binding.hpp"
#include "clock.hpp"
#include "launch_facts.hpp"
#include "parhelion/core/error.hpp"
#include "record.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

constexpr int all_right = 0, wrong_values = 1, bad_input = 2, failed = 3;

int run(const Job& job, const Communicator& comm, const Beginning& beginning, Record& record) {
    const auto cases = plan_cases(job, comm);
    const Binding binding = bind_ranks(comm, job.bind);
    nlohmann::json facts = launch_facts(binding, beginning);
    if (job.pair) facts["pair"] = *job.pair;
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

int read_job_and_run(const std::string& job_path, const std::string& record_path, const Beginning& beginning) {
    const Communicator comm(MPI_COMM_WORLD);
    std::optional<Record> record;
    int status = all_right;
    try {
        const Job job = read_job(job_path, comm);
        record.emplace(record_path, comm, job.launch, job.params);
        status = run(job, comm, beginning, *record);
    } catch (const Error& e) {  // thrown by every rank or by none: one of them says it, and all of them leave in order
        if (comm.rank() == 0) std::fprintf(stderr, "phl-bench: %s\n", e.what());
        status = bad_input;
    }
    if (record) record->end(status);
    return status;
}

// Open MPI 5 prints "OSC UCX component priority set inside component query failed" on every rank for every window where UCX
// has no network, and then uses another component. Nothing is wrong; the setting silences UCX components alone.
void silence_false_alarm() { setenv("OMPI_MCA_opal_common_ucx_verbose", "-1", 0); }

struct Arguments {
    std::string job, record;
    int cold_bytes = 0;  // of the alltoall that precedes everything; 0: none
};

// Before MPI_Init, and not in the job: to hand a job to all ranks would already make connections.
std::optional<Arguments> read_arguments(std::vector<std::string> words) {
    Arguments arguments;
    if (words.size() == 4 && words[0] == "--cold-alltoall") {
        arguments.cold_bytes = std::atoi(words[1].c_str());
        if (arguments.cold_bytes < 1) return std::nullopt;
        words.erase(words.begin(), words.begin() + 2);
    }
    if (words.size() != 2) return std::nullopt;
    arguments.job = words[0];
    arguments.record = words[1];
    return arguments;
}

int usage() {
    std::fputs(
        "usage: mpiexec -n RANKS phl-bench [--cold-alltoall BYTES] JOB.json RECORD.jsonl\n"
        "       phl-bench --list\n",
        stderr);
    return bad_input;
}

int write_list() {
    if (std::puts(list_contenders().dump(1).c_str()) >= 0 && std::fflush(stdout) == 0) return all_right;
    std::perror("phl-bench: cannot write standard output");
    return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--list") {
        return write_list();
    }
    const auto arguments = read_arguments({argv + 1, argv + argc});
    if (!arguments) return usage();
    silence_false_alarm();
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it, which says so
    const double start = now();
    int thread_level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    Beginning beginning{now() - start, nullptr};
    if (arguments->cold_bytes) beginning.cold_alltoall = call_while_cold(arguments->cold_bytes);
    int status = failed;
    try {
        status = read_job_and_run(arguments->job, arguments->record, beginning);
    } catch (const std::exception& e) {  // no Error: it struck this rank alone, and the others would wait for ever
        std::fprintf(stderr, "phl-bench: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, failed);
    }
    MPI_Finalize();
    return status;
}
