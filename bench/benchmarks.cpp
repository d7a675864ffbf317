#include "benchmarks.hpp"

#include "contenders.hpp"
#include "gather/case.hpp"
#include "halo/case.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

Case with_chosen_contenders(Case which, const std::vector<std::string>& names) {
    which.entries = chosen(which.entries, names);
    return which;
}

PlannedCase plan_halo(const json& object, const Job& job, const Communicator& comm) {
    const HaloParams params = read_halo_params(object, comm.size());
    return {[=, names = job.contenders] { return with_chosen_contenders(make_halo_case(params, comm), names); },
            chosen(halo_contenders({}), job.contenders).size()};
}

PlannedCase plan_gather(const json& object, const Job& job, const Communicator& comm) {
    const GatherParams params = read_gather_params(object);
    return {[=, names = job.contenders] { return with_chosen_contenders(make_gather_case(params, comm), names); },
            chosen(gather_contenders({}), job.contenders).size()};
}

json listed(const std::vector<Entry>& entries) {
    json list = json::array();
    for (const Entry& entry : entries)
        list.push_back({{"name", entry.name}, {"role", entry.role}, {"only_by_name", entry.only_by_name}});
    return list;
}

}  // namespace

std::vector<PlannedCase> plan_cases(const Job& job, const Communicator& comm) {
    const auto plan = job.benchmark == "halo" ? plan_halo : job.benchmark == "gather" ? plan_gather : nullptr;
    if (!plan) throw Error("job: unknown benchmark '" + job.benchmark + "': write halo or gather");
    std::vector<PlannedCase> cases;
    for (const json& object : job.cases) cases.push_back(plan(object, job, comm));
    return cases;
}

std::size_t lines_expected(const std::vector<PlannedCase>& cases) {
    std::size_t lines = 0;
    for (const PlannedCase& planned : cases) lines += planned.contenders;
    return lines;
}

json list_contenders() { return {{"halo", listed(halo_contenders({}))}, {"gather", listed(gather_contenders({}))}}; }

}  // namespace parhelion::bench
