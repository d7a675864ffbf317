#include "runner.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <utility>

namespace parhelion::bench {

namespace {

// Fisher and Yates, written out: std::shuffle may differ between the standard libraries of two
// nodes.
std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t left = count; left > 1; --left)
        std::swap(order[left - 1], order[random() % left]);
    return order;
}

// Every contender has its turn in every repetition, each time in another order: a drift of the
// machine, and what one contender leaves in the caches for the next, meet all of them alike.
void take_turns(std::deque<Entrant>& entrants, const Job& job) {
    std::mt19937_64 random(job.seed + (static_cast<std::uint64_t>(job.launch)
                                       << 32));  // another order in every launch
    const int most =
        job.precision > 0 ? std::max(job.repetitions, job.most_repetitions) : job.repetitions;
    for (int repetition = 0; repetition < most; ++repetition) {
        const bool enough = repetition >= job.repetitions;
        bool taken = false;
        for (std::size_t which : shuffled(entrants.size(), random)) {
            Entrant& entrant = entrants[which];
            if (!entrant.in_race() || (enough && entrant.is_precise(job.precision))) continue;
            entrant.take_sample();
            taken = true;
        }
        if (!taken) return;
    }
}

}  // namespace

void run_case(const Case& which, const Job& job, Ground ground, const ReportOutcome& report) {
    constexpr double times_apart = 10;  // by as much as hosts begin apart a sample is too long
    const double least_s =
        std::max(job.min_sample_s, times_apart * ground.start_line.hosts_apart());
    std::deque<Entrant> entrants;
    for (const Entry& entry : which.entries) {
        Entrant& entrant = entrants.emplace_back(entry, ground, which.work);
        if (entrant.in_race()) entrant.verify_first_exchanges();
        if (entrant.in_race()) entrant.choose_iterations(least_s);
    }
    take_turns(entrants, job);
    for (Entrant& entrant : entrants) {
        if (entrant.in_race()) entrant.verify_a_whole_sample();
        report(which, entrant.finish());
    }
}

}  // namespace parhelion::bench
