// phl-bench BENCHMARK [OPTIONS] under any launcher, one process per rank: see docs/architecture.md, "Measuring".
// Exit status: 0; 1 when a value was wrong; 2 for bad input.

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
#include "options.hpp"
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
    if (hash[0] != ~hash[1]) throw Error("the ranks were started with different options: start all of them with the same ones");
}

int measure(const Request& asked, const Beginning& beginning) {
    const Communicator comm(MPI_COMM_WORLD);
    std::optional<Record> record;
    int status = all_right;
    try {
        agree_on(asked, comm);
        if (!asked.complaint.empty()) throw Error(asked.complaint);
        Job job = job_of(asked.job, comm.size());
        job.arguments = asked.arguments;
        record.emplace(asked.record, comm, job);
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

int write(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return all_right;
    std::perror("phl-bench: cannot write standard output");
    return bad_input;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words.back() == "--help" || words.back() == "-h") return write(help_text(words.size() > 1 ? words[0] : ""));
    if (words.size() == 1 && words[0] == "--list") return write(list_contenders().dump(1) + "\n");
    const Request asked = read_words(words);
    silence_false_alarm();
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it, which says so
    const double start = now();
    int thread_level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_level);
    Beginning beginning{now() - start, nullptr};
    if (asked.cold_bytes) beginning.cold_alltoall = call_while_cold(asked.cold_bytes);
    int status = failed;
    try {
        status = measure(asked, beginning);
    } catch (const std::exception& e) {  // no Error: it struck this rank alone, and the others would wait for ever
        std::fprintf(stderr, "phl-bench: %s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, failed);
    }
    MPI_Finalize();
    return status;
}
