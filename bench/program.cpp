#include "program.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "alltoall/case.hpp"
#include "apps/case.hpp"
#include "gather/case.hpp"
#include "halo/case.hpp"
#include "launch.hpp"
#include "measurement.hpp"
#include "parhelion/core/error.hpp"
#include "record.hpp"
#include "variant.hpp"

namespace parhelion::bench {

std::size_t lines_expected(const std::vector<PlannedCase>& cases, const Job& job) {
  std::size_t lines = 0;
  for (const PlannedCase& each : cases) lines += chosen(each.entries, job.variants).size();
  return lines;
}

namespace {

using nlohmann::json;

PlannedCase plan(const json& object, const std::string& benchmark, const Communicator& comm) {
  if (benchmark == "halo") {
    const HaloParams params = read_halo_params(object, comm.size());
    return {[=] { return make_halo_case(params, comm); }, halo_variants({.params = params})};
  }
  if (benchmark == "gather") {
    const GatherParams params = read_gather_params(object);
    return {[=] { return make_gather_case(params, comm); }, gather_variants({})};
  }
  if (benchmark == "alltoall") {
    const std::size_t size = object.at("size");
    return {[=] { return make_alltoall_case(size, comm); }, alltoall_variants({})};
  }
  if (benchmark == "apps")
    return {[=] { return read_application(object, comm); }, read_application(object, comm).entries};
  throw Error(benchmark + " is measured from Python: parhelion bench " + benchmark);
}

json entries_of(const std::vector<Entry>& entries) {
  json list = json::array();
  for (const Entry& entry : entries)
    list.push_back({{"name", entry.name}, {"role", entry.role},
        {"only_by_name", entry.only_by_name}, {"unavailable", entry.unavailable}});
  return list;
}

}  // namespace

std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm) {
  std::vector<PlannedCase> cases;
  for (const json& object : job.cases) cases.push_back(plan(object, job.benchmark, comm));
  return cases;
}

json list_variants() {
  return {{"halo", entries_of(halo_variants({}))}, {"gather", entries_of(gather_variants({}))},
      {"alltoall", entries_of(alltoall_variants({}))},
      {"apps", entries_of(application_variants())}};
}

namespace {

int run(const Job& job, const Communicator& comm, const Beginning& beginning, const PlanCases& plan,
    Record& record) {
  const auto cases = plan(job, comm);
  const Binding binding = bind_ranks(comm, job.bind);
  nlohmann::json facts = launch_facts(binding, beginning);
  if (job.pair >= 0) facts["pair"] = job.pair;
  facts["arguments"] = job.arguments;
  Energy energy(comm);
  facts["energy"] = energy.why_not().empty() ? "counted" : "not told: " + energy.why_not();
  record.launch(std::move(facts));
  record.plan(lines_expected(cases, job));
  StartLine start_line(comm);
  FlagProbe probe(comm, binding);
  std::optional<Levels> levels;
  if (job.per_node) levels.emplace(comm);
  Turns turns(job.turns, comm.rank());
  const Ground ground{comm, start_line, probe, turns, levels ? &*levels : nullptr,
      energy.why_not().empty() ? &energy : nullptr};
  int status = all_right;
  for (const PlannedCase& planned : cases) {
    Case made = planned.make();
    made.entries = chosen(made.entries, job.variants);
    run_case(made, job, ground, [&](const Case& which, const Outcome& outcome) {
      record.outcome(which, outcome);
      if (!outcome.skipped && !outcome.verified) status = wrong_values;
    });
  }
  return status;
}

// Throws Error if the ranks have different command lines, which would deadlock.
void agree_on(const Request& asked, const Communicator& comm) {
  std::string words = asked.complaint;
  for (const std::string& word : asked.job.arguments) words += word + '\n';
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
    if (asked.job.ranks > 0 && asked.job.ranks != comm.size())
      throw Error("--ranks " + std::to_string(asked.job.ranks) + ", but " +
                  std::to_string(comm.size()) + " were started: run mpiexec -n " +
                  std::to_string(asked.job.ranks));
    record.emplace(asked.record, comm, asked.job);
    status = run(asked.job, comm, beginning, plan, *record);
  } catch (const Error& e) {  // on all ranks or none: rank 0 prints it, all return
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
  } catch (const std::exception& e) {  // maybe on this rank only: the others would wait forever
    std::fprintf(stderr, "phl-bench: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, failed);
  }
  return failed;
}

}  // namespace parhelion::bench
