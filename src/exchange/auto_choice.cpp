#include "exchange/auto_choice.hpp"

#include <algorithm>
#include <map>

#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/saved_ghosts.hpp"
#include "transport/node/peer_plan.hpp"

namespace parhelion {
namespace {

// Choices by plan; on the communicator, so that all ranks remember the same.
struct Memory {
    explicit Memory(const Communicator&) {}
    std::map<std::uint64_t, std::string> chosen;
};

// Equal on all ranks, and for plans that are equal on each of them.
std::uint64_t fingerprint(const Plan& plan) {
    Hash hash;
    for (const Field& field : plan.fields) {
        hash.add(field.element.size).add(field.components).add(field.component_stride);
        for (const BlockView& block : field.blocks) hash.add_range(block.strides).add(block.component_stride);
    }
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links)
            hash.add(link.rank).add(link.forward.send_bytes).add(link.forward.receive_bytes).add(link.thin);
    std::uint64_t mine = hash.value() * (2 * static_cast<std::uint64_t>(plan.communicator().rank()) + 1), all = 0;
    check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, plan.communicator().handle()), "MPI_Allreduce");
    return all;
}

struct Situation {
    int has_near = 0, has_far = 0, has_thin = 0, has_wide = 0, has_private = 0, lacks_ucx = 0;
};

bool is_usable(const std::string& name) {
    for (const TransportInfo& info : transports())
        if (info.name == name) return info.unavailable().empty();
    return false;
}

Situation look_around(const Plan& plan) {
    const Communicator& comm = plan.communicator();
    comm.node();
    Situation mine, all;
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links) {
            const bool near = comm.node_rank(link.rank) >= 0;
            (near ? mine.has_near : mine.has_far) = 1;
            if (near) (link.thin ? mine.has_thin : mine.has_wide) = 1;
        }
    mine.lacks_ucx = is_usable("ucx") ? 0 : 1;
    mine.has_private = private_field(plan).empty() ? 0 : 1;
    check_mpi(MPI_Allreduce(&mine, &all, 6, MPI_INT, MPI_MAX, comm.handle()), "MPI_Allreduce");
    return all;
}

std::vector<std::string> behind_each(const std::vector<std::string>& near, const std::vector<std::string>& far) {
    std::vector<std::string> names;
    for (const std::string& network : far)
        for (const std::string& way : near) names.push_back(way + "+" + network);
    return names;
}

// Inside a node `ucx` moves messages as `staged_shared` does: it is tried where there is a network.
std::vector<std::string> candidates(const Situation& situation) {
    const std::string mpi = "mpi_persistent";
    std::vector<std::string> networks{mpi};
    if (!situation.lacks_ucx) networks.push_back("ucx");
    if (!situation.has_near) return networks;
    std::vector<std::string> names;
    if (!situation.has_private) {
        names.push_back("shared");
        if (situation.has_thin && situation.has_wide) names.push_back("shared|staged_shared");
    }
    names.push_back("staged_shared");
    if (situation.has_far) names = behind_each(names, networks);
    names.push_back(mpi);
    return names;
}

struct Contestant {
    std::string name;
    Choice choice;
    std::unique_ptr<Stages> stages;
    double best = 1e300;        // of the slowest rank, once agreed on
    double final_best = 1e300;  // of this rank, in the final
    bool steady = false;
};

constexpr int exchanges_per_turn = 2;
constexpr int turns_of_finalists = 4;
constexpr double finalist_factor = 1.25;  // whoever is further behind after one turn will not catch up
constexpr double trial_timeout_s = 60;

double seconds_of(Stages& stages, int exchanges) {
    const double start = MPI_Wtime();
    for (int i = 0; i < exchanges; ++i) {
        stages.begin(Direction::forward);
        stages.end(trial_timeout_s);
    }
    return (MPI_Wtime() - start) / exchanges;
}

// The time of a contestant is that of its slowest rank. Collective.
void agree_on_times(const Communicator& comm, std::vector<Contestant>& contestants) {
    std::vector<double> mine, slowest(contestants.size());
    for (const Contestant& each : contestants) mine.push_back(each.best);
    check_mpi(MPI_Allreduce(mine.data(), slowest.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, comm.handle()),
              "MPI_Allreduce");
    for (std::size_t i = 0; i < contestants.size(); ++i) contestants[i].best = slowest[i];
}

Contestant& fastest(std::vector<Contestant>& contestants) {
    return *std::min_element(contestants.begin(), contestants.end(),
                             [](const Contestant& a, const Contestant& b) { return a.best < b.best; });
}

// One turn for all, then some for those that may win. The best turn of each counts: disturbances only ever slow it down.
void race(const Plan& plan, std::vector<Contestant>& contestants) {
    for (Contestant& each : contestants) seconds_of(*each.stages, 1);  // first touch, first connection
    for (Contestant& each : contestants) each.best = seconds_of(*each.stages, exchanges_per_turn);
    agree_on_times(plan.communicator(), contestants);
    const double limit = finalist_factor * fastest(contestants).best;
    for (int turn = 0; turn < turns_of_finalists; ++turn)
        for (Contestant& each : contestants)
            if (each.best <= limit) each.final_best = std::min(each.final_best, seconds_of(*each.stages, exchanges_per_turn));
    for (Contestant& each : contestants) each.best = std::min(each.best, each.final_best);
    agree_on_times(plan.communicator(), contestants);
}

// Straight copies into a neighbor's arrays are the first to suffer when cores are far apart or move: to be chosen, they must
// win clearly over the rings.
constexpr double clear_win = 0.95;

Contestant& winner(std::vector<Contestant>& contestants) {
    Contestant& first = fastest(contestants);
    Contestant* best = &first;
    for (Contestant& each : contestants)
        if (each.steady && each.best * clear_win <= first.best && (!best->steady || each.best < best->best)) best = &each;
    return *best;
}

AutoChoice single(const Plan& plan, const std::string& name, bool remembered) {
    const Choice choice = parse_choice(name);
    return {choice, std::make_unique<Stages>(plan, choice), {}, remembered};
}

}  // namespace

AutoChoice choose_automatically(const Plan& plan) {
    Memory& memory = plan.communicator().shared_state<Memory>();
    const std::uint64_t print = fingerprint(plan);
    if (const auto known = memory.chosen.find(print); known != memory.chosen.end()) return single(plan, known->second, true);
    const auto names = candidates(look_around(plan));
    if (names.size() == 1) return single(plan, names.front(), false);

    std::vector<Contestant> contestants;
    for (const std::string& name : names) {
        const Choice choice = parse_choice(name);
        contestants.push_back({name, choice, std::make_unique<Stages>(plan, choice)});
        contestants.back().steady = choice.near == choice.thin && choice.near->name == "staged_shared";
    }
    const SavedGhosts ghosts(plan);
    race(plan, contestants);
    ghosts.restore();

    Contestant& best = winner(contestants);
    memory.chosen[print] = best.name;
    AutoChoice result{best.choice, std::move(best.stages), {}, false};
    for (const Contestant& each : contestants) result.measured.push_back({each.name, each.best});
    return result;
}

}  // namespace parhelion
