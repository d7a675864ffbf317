#include "benchmarks.hpp"

#include "alltoall/case.hpp"
#include "apps/contenders.hpp"
#include "contenders.hpp"
#include "gather/case.hpp"
#include "halo/case.hpp"
#include "parhelion/core/error.hpp"
#include "setup/case.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

PlannedCase plan_halo(const json& object, const Job& job, const Communicator& comm) {
    const HaloParams params = read_halo_params(object, comm.size());
    return race([=] { return make_halo_case(params, comm); }, halo_contenders({}), job);
}

PlannedCase plan_gather(const json& object, const Job& job, const Communicator& comm) {
    const GatherParams params = read_gather_params(object);
    return race([=] { return make_gather_case(params, comm); }, gather_contenders({}), job);
}

PlannedCase plan_alltoall(const json& object, const Job& job, const Communicator& comm) {
    const std::size_t size = read_alltoall_size(object);
    return race([=] { return make_alltoall_case(size, comm); }, alltoall_contenders({}), job);
}

PlannedCase plan_application(const json& object, const Job& job, const Communicator& comm) {
    return race([=] { return read_application(object, comm); },
                read_application(object, comm).entries, job);
}

PlannedCase plan_setup(const json& object, const Job& job, const Communicator& comm) {
    const SetupCase which = read_setup_case(object, comm.size());
    const std::vector<Entry> stages = chosen(setup_stages(), job.contenders, "stage", "set-up");
    return {[=](const Job& asked, Ground ground, const ReportOutcome& report) {
                run_setup_case(which, stages, asked, ground, report);
            },
            stages.size()};
}

using Plan = PlannedCase (*)(const json&, const Job&, const Communicator&);

Plan plan_of(const std::string& benchmark) {
    if (benchmark == "halo") return plan_halo;
    if (benchmark == "gather") return plan_gather;
    if (benchmark == "alltoall") return plan_alltoall;
    if (benchmark == "setup") return plan_setup;
    if (benchmark == "apps") return plan_application;
    throw Error(benchmark + " is measured from Python: parhelion bench " + benchmark);
}

json entries_of(const std::vector<Entry>& entries) {
    json list = json::array();
    for (const Entry& entry : entries)
        list.push_back({{"name", entry.name},
                        {"role", entry.role},
                        {"only_by_name", entry.only_by_name},
                        {"unavailable", entry.unavailable}});
    return list;
}

}  // namespace

std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm) {
    const Plan plan = plan_of(job.benchmark);
    std::vector<PlannedCase> cases;
    for (const json& object : job.cases) cases.push_back(plan(object, job, comm));
    return cases;
}

json list_contenders() {
    return {{"halo", entries_of(halo_contenders({}))},
            {"gather", entries_of(gather_contenders({}))},
            {"alltoall", entries_of(alltoall_contenders({}))},
            {"setup", entries_of(setup_stages())},
            {"apps", entries_of(application_contenders())}};
}

}  // namespace parhelion::bench
