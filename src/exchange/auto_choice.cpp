#include "exchange/auto_choice.hpp"

#include <algorithm>
#include <map>

#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/copy_team.hpp"
#include "plan/saved_ghosts.hpp"
#include "transport/node/array_access.hpp"
#include "transport/node/xpmem.hpp"

namespace parhelion {
namespace {

// Choices by plan; on the communicator, so that all ranks remember the same.
struct Memory {
    explicit Memory(const Communicator&) {}
    std::map<std::uint64_t, std::string> chosen;
};

struct Situation {
    int has_near = 0, has_far = 0, has_thin = 0, has_wide = 0, has_private = 0, has_unmappable = 0, lacks_ucx = 0;
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
    mine.lacks_ucx = mine.has_far && !is_usable("ucx");  // looking loads it
    mine.has_private = private_field(plan).empty() ? 0 : 1;
    mine.has_unmappable = mine.has_private && !(xpmem_unavailable().empty() && ragged_field(plan).empty());
    check_mpi(MPI_Allreduce(&mine, &all, sizeof mine / sizeof(int), MPI_INT, MPI_MAX, comm.handle()), "MPI_Allreduce");
    return all;
}

// Equal on all ranks, and for plans that are equal on each of them.
std::uint64_t fingerprint(const Plan& plan, const Situation& situation) {
    Hash hash;
    hash.add(situation.has_private).add(plan.team ? plan.team->size() : 1);
    for (const Field& field : plan.fields) {
        hash.add(field.element.size).add(field.components).add(field.component_stride).add(field.ragged());
        for (const BlockView& block : field.blocks) hash.add_range(block.strides).add(block.component_stride);
    }
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links)
            hash.add(link.rank).add(link.forward.send_bytes).add(link.forward.receive_bytes).add(link.thin);
    std::uint64_t mine = hash.value() * (2 * static_cast<std::uint64_t>(plan.communicator().rank()) + 1), all = 0;
    check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, plan.communicator().handle()), "MPI_Allreduce");
    return all;
}

std::vector<std::string> behind_each(const std::vector<std::string>& near, const std::vector<std::string>& far) {
    std::vector<std::string> names;
    for (const std::string& network : far)
        for (const std::string& way : near) names.push_back(way + "+" + network);
    return names;
}

// What is likely to win comes first: the later ones are left out the sooner, the faster those before them are.
// Inside a node `ucx` moves messages as `staged_shared` does: it is tried where there is a network.
std::vector<std::string> candidates(const Situation& situation) {
    const std::string mpi = "mpi_persistent";
    std::vector<std::string> networks{mpi};
    if (!situation.lacks_ucx) networks.push_back("ucx");
    if (!situation.has_near) return networks;
    std::vector<std::string> near{"staged_shared"};
    if (!situation.has_unmappable) {
        const std::string direct = situation.has_private ? "xpmem" : "shared";
        near.insert(situation.has_thin ? near.end() : near.begin(), direct);
        if (situation.has_thin && situation.has_wide) near.insert(near.begin(), direct + "|staged_shared");
    }
    std::vector<std::string> names = situation.has_far ? behind_each(near, networks) : near;
    names.push_back(mpi);
    return names;
}

struct Contestant {
    std::string name;
    Choice choice;
    std::unique_ptr<Stages> stages = nullptr;
    double best = unknown;  // seconds per exchange of the slowest rank
    bool steady = false;
    std::string refusal = {};  // why it could not be made

    static constexpr double unknown = 1e300;
};

/// Finds the fastest by trial exchanges. All decisions are made from times that the ranks have agreed on.
class Race {
public:
    Race(const Plan& plan, const std::vector<std::string>& names) : plan_(plan) {
        for (const std::string& name : names) {
            const Choice choice = parse_choice(name);
            contestants_.push_back({name, choice});
            contestants_.back().steady = choice.near == choice.thin && choice.near->name == "staged_shared";
        }
    }

    /// Collective. Leaves a contestant out as soon as it cannot win any more, and ends when the trials have taken as long as
    /// `most_exchanges` of the fastest.
    void run() {
        for (Contestant& each : contestants_) qualify(each);
        for (int turn = 0; turn < turns_of_finalists && final_is_open(); ++turn)
            for (Contestant& each : contestants_)
                if (is_finalist(each)) take_turn(each, 1, exchanges_of_finalists);
    }

    // Straight copies into a neighbor's arrays are the first to suffer when cores are far apart or move: to be chosen, they must
    // win clearly over the rings.
    Contestant& winner() {
        Contestant& first = fastest();
        Contestant* best = &first;
        for (Contestant& each : contestants_)
            if (each.steady && each.best * clear_win <= first.best && (!best->steady || each.best < best->best)) best = &each;
        return *best;
    }
    const std::vector<Contestant>& contestants() const { return contestants_; }

private:
    static constexpr double most_exchanges = 40;
    static constexpr int turns_of_finalists = 3;
    static constexpr int exchanges_of_finalists = 3;
    static constexpr double out_factor = 2;         // whoever is further behind in its second exchange is out
    static constexpr double finalist_factor = 1.25;  // and so is whoever is further behind after its first turn
    static constexpr double clear_win = 0.95;
    static constexpr double timeout_s = 60;

    // The first exchange touches and connects. What others leave in the caches is part of it.
    void qualify(Contestant& each) {
        const double rival = fastest().best;
        const double rival_s = rival < Contestant::unknown ? rival : 0;
        if (!make(each, {Lanes::forward, rival_s})) return;
        take_turn(each, 1, 1);
        if (each.best < out_factor * rival) take_turn(each, 0, 2);
    }

    // What the system refuses, to all ranks, leaves the others in the race.
    bool make(Contestant& each, const Trial& trial) {
        try {
            each.stages = std::make_unique<Stages>(plan_, each.choice, trial);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::system || &each == &contestants_.back()) throw;
            each.refusal = error.what();
        }
        return each.stages != nullptr;
    }

    // The best turn of each counts: disturbances only ever slow it down.
    void take_turn(Contestant& each, int uncounted, int counted) {
        double seconds[2] = {seconds_of(*each.stages, uncounted), seconds_of(*each.stages, counted)};
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, plan_.communicator().handle()), "MPI_Allreduce");
        spent_ += seconds[0] + seconds[1];
        each.best = std::min(each.best, seconds[1] / counted);
    }

    static double seconds_of(Stages& stages, int exchanges) {
        const double start = MPI_Wtime();
        for (int i = 0; i < exchanges; ++i) {
            stages.begin(Direction::forward);
            stages.end(timeout_s);
        }
        return MPI_Wtime() - start;
    }

    Contestant& fastest() {
        return *std::min_element(contestants_.begin(), contestants_.end(),
                                 [](const Contestant& a, const Contestant& b) { return a.best < b.best; });
    }
    bool is_finalist(const Contestant& each) { return each.best <= finalist_factor * fastest().best; }

    bool final_is_open() {
        const double best = fastest().best;
        const auto finalists = std::count_if(contestants_.begin(), contestants_.end(), [&](const Contestant& c) { return is_finalist(c); });
        const double next = static_cast<double>(finalists) * (1 + exchanges_of_finalists) * best;
        return finalists > 1 && spent_ + next <= most_exchanges * best;
    }

    const Plan& plan_;
    std::vector<Contestant> contestants_;
    double spent_ = 0;
};

AutoChoice single(const Plan& plan, const std::string& name, bool remembered) {
    const Choice choice = parse_choice(name);
    return {choice, std::make_unique<Stages>(plan, choice), {}, remembered};
}

}  // namespace

AutoChoice choose_automatically(const Plan& plan) {
    Memory& memory = plan.communicator().shared_state<Memory>();
    const Situation situation = look_around(plan);
    const std::uint64_t print = fingerprint(plan, situation);
    if (const auto known = memory.chosen.find(print); known != memory.chosen.end()) return single(plan, known->second, true);
    const auto names = candidates(situation);
    if (names.size() == 1) return single(plan, names.front(), false);

    Race race(plan, names);
    const SavedGhosts ghosts(plan);
    race.run();
    ghosts.restore();

    Contestant& best = race.winner();
    best.stages->complete();
    memory.chosen[print] = best.name;
    AutoChoice result{best.choice, std::move(best.stages), {}, false};
    for (const Contestant& each : race.contestants()) result.measured.push_back({each.name, each.best, each.refusal});
    return result;
}

}  // namespace parhelion
