#include "exchange/auto_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/patient_wait.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/copy_team.hpp"
#include "plan/saved_ghosts.hpp"
#include "transport/factories.hpp"
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
    int has_boxes = 0, has_near = 0, has_far = 0, has_thin = 0, has_wide = 0, has_private = 0, has_unmappable = 0, lacks_ucx = 0;
};

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
    mine.has_boxes = std::none_of(plan.patterns.begin(), plan.patterns.end(), [](const auto& each) { return each->indexed(); });
    mine.lacks_ucx = mine.has_far && !ucx_missing().empty();  // looking loads it
    mine.has_private = private_field(plan).empty() ? 0 : 1;
    mine.has_unmappable = mine.has_private && !(xpmem_unavailable().empty() && ragged_field(plan).empty());
    allreduce(comm, &mine, &all, sizeof mine / sizeof(int), MPI_INT, MPI_MAX);
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
    allreduce(plan.communicator(), &mine, &all, 1, MPI_UINT64_T, MPI_SUM);
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
    if (situation.has_boxes) networks.push_back("mpi_typed");
    if (!situation.has_near) return networks;
    std::vector<std::string> near{"staged_shared"};
    if (!situation.has_unmappable) {
        const std::string direct = situation.has_private ? "xpmem" : "shared";
        near.insert(situation.has_thin ? near.end() : near.begin(), direct);
        if (situation.has_thin && situation.has_wide) near.insert(near.begin(), direct + "|staged_shared");
    }
    std::vector<std::string> names = situation.has_far ? behind_each(near, networks) : near;
    names.push_back(mpi);
    if (situation.has_boxes) names.push_back("mpi_typed");
    return names;
}

struct Contestant {
    std::string name;
    Choice choice;
    std::unique_ptr<Stages> stages = nullptr;
    double best = unknown;    // seconds per exchange of the slowest rank
    double second = unknown;  // of its second exchange
    bool steady = false;
    std::string refusal = {};  // why it could not be made

    static constexpr double unknown = 1e300;
};

/// Finds the fastest by trial exchanges. All decisions are made from times that the ranks have agreed on.
class Race {
public:
    Race(const Plan& plan, const BoundArrays& arrays, const std::vector<std::string>& names) : plan_(plan), arrays_(arrays) {
        for (const std::string& name : names) {
            const Choice choice = parse_choice(name);
            contestants_.push_back({name, choice});
            contestants_.back().steady = choice.near == choice.thin && choice.near->name == "staged_shared";
        }
    }

    /// Collective. Leaves a contestant out as soon as it cannot win any more, and ends when the trials have taken as long as
    /// `most_exchanges` of the fastest, or `affordable_s`.
    void run() {
        for (Contestant& each : contestants_) qualify(each);
        Contestant& first = contestants_.front();  // it found the arrays in memory, the others in caches
        if (first.stages && &first != &fastest()) take_turn(first, 1, exchanges_of_finalists());
        for (const double factor : finalist_factors) {
            const auto finalists = still_in(factor);
            if (!is_affordable(finalists.size())) break;
            const int exchanges = exchanges_of_finalists();
            for (Contestant* each : finalists) take_turn(*each, 1, exchanges);
        }
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
    static constexpr double most_exchanges = 42;
    static constexpr double affordable_s = 300e-6;   // less than any plan takes
    static constexpr double shortest_turn_s = 20e-6;  // what ranks begin apart, and the clock's steps, are small beside it
    // Whoever is further behind in its second exchange is out, and so is whoever is further behind before a turn of the final.
    // Caches that are not warm yet make what comes first look slow, hence the patience.
    static constexpr double out_factor = 2;
    static constexpr double finalist_factors[] = {1.6, 1.3, 1.2, 1.1};
    static constexpr int most_warming_turns = 8;
    static constexpr double still_warming = 0.93;
    static constexpr double clear_win = 0.95;
    static constexpr double timeout_s = 60;

    // The first exchange touches and connects: it belongs to the set-up.
    void qualify(Contestant& each) {
        const Contestant& rival = fastest();
        if (!make(each)) return;
        const double first = agreed_seconds(each, 1);
        each.second = take_turn(each, 0, exchanges_lasting(shortest_turn_s / 2, first, 1));
        if (each.second < out_factor * rival.second) warm_up(each);
    }

    // Long lists take some ten exchanges to settle in the caches, from which those that are tried later profit too.
    void warm_up(Contestant& each) {
        double before = each.second;
        for (int turn = 0; turn < most_warming_turns; ++turn) {
            const double now = take_turn(each, 0, exchanges_lasting(shortest_turn_s, before, 1));
            if (now > still_warming * before || spent_ > most_exchanges / 2 * each.best) break;
            before = now;
        }
    }

    // What the system refuses, to all ranks, leaves the others in the race.
    bool make(Contestant& each) {
        try {
            each.stages = std::make_unique<Stages>(plan_, arrays_, each.choice);
        } catch (const Error& error) {
            const bool none = std::none_of(contestants_.begin(), contestants_.end(), [](const Contestant& other) { return other.stages != nullptr; });
            if (error.kind() != ErrorKind::system || (none && &each == &contestants_.back())) throw;
            each.refusal = error.what();
        }
        return each.stages != nullptr;
    }

    static int exchanges_lasting(double seconds, double each_s, int least) {
        constexpr double most = 200;
        return std::max(least, static_cast<int>(std::min(std::ceil(seconds / std::max(each_s, 1e-9)), most)));
    }
    int exchanges_of_finalists() { return exchanges_lasting(shortest_turn_s, fastest().best, 2); }

    // The best turn of each counts: disturbances only ever slow it down.
    double take_turn(Contestant& each, int uncounted, int counted) {
        const double start = MPI_Wtime();
        seconds_of(*each.stages, uncounted);
        const double seconds = agreed_seconds(each, counted);
        last_turn_s_ = MPI_Wtime() - start;
        each.best = std::min(each.best, seconds / counted);
        return seconds / counted;
    }

    // Of the slowest rank. What the turn before has taken, the agreement included, is agreed on here too.
    double agreed_seconds(Contestant& each, int exchanges) {
        double seconds[2] = {seconds_of(*each.stages, exchanges), last_turn_s_};
        allreduce(plan_.communicator(), seconds, seconds, 2, MPI_DOUBLE, MPI_MAX);
        spent_ += seconds[1];
        last_turn_s_ = 0;
        return seconds[0];
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
    std::vector<Contestant*> still_in(double factor) {
        const double limit = factor * fastest().best;
        std::vector<Contestant*> all;
        for (Contestant& each : contestants_)
            if (each.best <= limit) all.push_back(&each);
        return all;
    }

    // Nothing is left to be found out about one alone.
    bool is_affordable(std::size_t finalists) {
        const double best = fastest().best;
        const double turn = static_cast<double>(finalists) * (1 + exchanges_of_finalists()) * best;
        return finalists > 1 && spent_ + turn <= std::max(most_exchanges * best, affordable_s);
    }

    const Plan& plan_;
    const BoundArrays& arrays_;
    std::vector<Contestant> contestants_;
    double spent_ = 0;        // on turns, the last one apart; agreed on
    double last_turn_s_ = 0;  // of this rank
};

AutoChoice single(const Plan& plan, const BoundArrays& arrays, const std::string& name, bool remembered) {
    const Choice choice = parse_choice(name);
    return {choice, std::make_unique<Stages>(plan, arrays, choice), {}, remembered};
}

}  // namespace

AutoChoice choose_automatically(const Plan& plan, const BoundArrays& arrays) {
    Memory& memory = plan.communicator().shared_state<Memory>();
    const Situation situation = look_around(plan);
    const std::uint64_t print = fingerprint(plan, situation);
    if (const auto known = memory.chosen.find(print); known != memory.chosen.end()) return single(plan, arrays, known->second, true);
    const auto names = candidates(situation);
    if (names.size() == 1) return single(plan, arrays, names.front(), false);

    Race race(plan, arrays, names);
    const SavedGhosts ghosts(plan);
    race.run();
    ghosts.restore();

    Contestant& best = race.winner();
    memory.chosen[print] = best.name;
    AutoChoice result{best.choice, std::move(best.stages), {}, false};
    for (const Contestant& each : race.contestants()) result.measured.push_back({each.name, each.best, each.refusal});
    return result;
}

}  // namespace parhelion
