// Exchanges that are begun and ended around work: values are verified, the work does not count, and who has no halves is skipped.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "binding.hpp"
#include "halo/case.hpp"
#include "runner.hpp"

using namespace parhelion;
using namespace parhelion::bench;

namespace {

const std::vector<std::string> measured{"auto", "mpi_p2p", "hand_packed", "hand_staged_datatype", "hand_neighbor_alltoallv", "hand_neighbor_alltoallw"};

std::map<std::string, Outcome> outcomes_of(Case& which, const Communicator& comm) {
    std::erase_if(which.entries, [](const Entry& entry) {
        return entry.name != "floor_put" && std::find(measured.begin(), measured.end(), entry.name) == measured.end();
    });
    Job job;
    job.repetitions = 2;
    StartLine start_line(comm);
    FlagProbe probe(comm, bind_ranks(comm, false));
    std::map<std::string, Outcome> outcomes;
    run_case(which, job, {comm, start_line, probe}, [&](const Outcome& outcome) { outcomes.emplace(outcome.contender, outcome); });
    return outcomes;
}

nlohmann::json tiny(int ranks) { return {{"grid", {ranks, 1}}, {"extent", {8, 8}}, {"work_us", 20}, {"uneven", 0.5}}; }

}  // namespace

TEST_CASE("exchanges are verified around work, and those that cannot be begun and ended apart are skipped") {
    const Communicator comm(MPI_COMM_WORLD);
    Case which = make_halo_case(read_halo_params(tiny(comm.size()), comm.size()), comm);
    CHECK_EQ(which.params["work_us"], 20);
    CHECK_EQ(which.params["uneven"], 0.5);
    auto outcomes = outcomes_of(which, comm);
    for (const std::string& name : measured) {
        CAPTURE(name);
        CHECK_FALSE(outcomes[name].error);
        CHECK_FALSE(outcomes[name].skipped);
        CHECK(outcomes[name].verified);
    }
    CHECK_EQ(outcomes["floor_put"].skipped.value_or(""), "it cannot be begun and ended apart");
    if (comm.size() > 1) CHECK_NE(outcomes["auto"].explain.get<std::string>().find("in begin and end"), std::string::npos);
}

TEST_CASE("the first rank has less work than the average by a share of it, the last more") {
    const Work work{1, 0.5};
    CHECK_EQ(work.of_rank(0, 3), doctest::Approx(0.5));
    CHECK_EQ(work.of_rank(1, 3), doctest::Approx(1));
    CHECK_EQ(work.of_rank(2, 3), doctest::Approx(1.5));
    CHECK_EQ(Work{1, 0}.of_rank(2, 3), doctest::Approx(1));
}

TEST_CASE("work that is no length of time is refused") {
    for (const auto& [key, wrong] : {std::pair{"work_us", -1.0}, {"work_us", 1e9}, {"uneven", 1.0}}) {
        nlohmann::json params = tiny(1);
        params[key] = wrong;
        CHECK_THROWS_WITH_AS(read_halo_params(params, 1), doctest::Contains(key), Error);
    }
}
