// phl-bench JOB.json RECORD.jsonl: measures what the job asks for; see docs/architecture.md, "Measuring".
// Started by mpiexec, one process per rank. Exit status: 0; 1 when a value was wrong; 2 for bad input.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "benchmarks.hpp"
#include "binding.hpp"
#include "clock.hpp"
#include "launch_facts.hpp"
#include "parhelion/core/error.hpp"
#include "record.hpp"
#include "runner.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

constexpr int all_right = 0, wrong_values = 1, bad_input = 2;

int measure(const std::vector<PlannedCase>& cases, const Job& job, Ground ground, Record& record) {
    int status = all_right;
    for (const PlannedCase& planned : cases) {
        const Case which = planned.make();
        run_case(which, job, ground, [&](const Outcome& outcome) {
            record.outcome(which, outcome);
            if (!outcome.skipped && !outcome.verified) status = wrong_values;
        });
    }
    return status;
}

int run(const Job& job, const Communicator& comm, double mpi_init_s, Record& record) {
    const auto cases = plan_cases(job, comm);
    const Binding binding = bind_ranks(comm, job.bind);
    record.launch(launch_facts(binding, mpi_init_s));
    record.plan(lines_expected(cases));
    StartLine start_line(comm);
    FlagProbe probe(comm, binding);
    return measure(cases, job, {comm, start_line, probe}, record);
}

// An Error is thrown by every rank or by none, so one of them says it and all of them leave in order.
template <class Work>
int or_complain_once(const Communicator& comm, Work&& work) {
    try {
        return work();
    } catch (const Error& e) {
        if (comm.rank() == 0) std::fprintf(stderr, "phl-bench: %s\n", e.what());
        return bad_input;
    }
}

int read_job_and_run(const std::string& job_path, const std::string& record_path, double mpi_init_s) {
    const Communicator comm;
    return or_complain_once(comm, [&] {
        const Job job = read_job(job_path, comm);
        Record record(record_path, comm, job.launch);
        const int status = or_complain_once(comm, [&] { return run(job, comm, mpi_init_s, record); });
        record.end(status);
        return status;
    });
}

// Anything but an Error struck this rank alone: the others would wait for ever.
int or_abort(const std::function<int()>& work) {
    try {
        return work();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "phl-bench: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 3);
        return 3;
    }
}

// Open MPI 5 prints "OSC UCX component priority set inside component query failed" on every rank for every window where UCX
// has no network, and then uses another component. Nothing is wrong; the setting silences UCX components alone.
void silence_false_alarm() { setenv("OMPI_MCA_opal_common_ucx_verbose", "-1", 0); }

int usage() {
    std::fputs(
        "usage: mpiexec -n RANKS phl-bench JOB.json RECORD.jsonl\n"
        "       phl-bench --list\n",
        stderr);
    return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--list") {
        std::puts(list_contenders().dump(1).c_str());
        return all_right;
    }
    if (argc != 3) return usage();
    silence_false_alarm();
    const double start = now();
    int thread_level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    const double mpi_init_s = now() - start;
    const int status = or_abort([&] { return read_job_and_run(argv[1], argv[2], mpi_init_s); });
    MPI_Finalize();
    return status;
}
