#include "exchange/race.hpp"

#include <algorithm>
#include <cmath>

namespace parhelion {
namespace {

constexpr double most_exchanges = 45;                     // of the fastest: the budget
constexpr double affordable_s = 300e-6;                   // less than any plan takes
constexpr double most_s = 0.15;                           // of making contestants, and of trials: an exchange may take milliseconds
constexpr double shortest_sample_s = 5e-6;                // the clock's steps are small beside it
constexpr double long_s = 1e-3;                           // an exchange that lasts so long is sampled once
constexpr double out_factor = 1.8;                        // so far behind in its first turns: no more of them
constexpr double finalist_factor = 1.4;                   // at most so far behind: takes part in the final
constexpr double staying_factors[] = {1.25, 1.12, 1.06};  // after each round of it
constexpr int least_rounds = 3, most_rounds = 9;
constexpr int most_warming_turns = 4;
constexpr double still_warming = 0.93;

// Exchanges that a sample has at least. Long ones wait for the network: a node that begins earlier than its neighbor waits as much longer
// in one exchange as it waits shorter in the next.
int least_each(double each_s) { return each_s > long_s ? 2 : 1; }

// Of one contestant, which takes about so long: a disturbed exchange is one sample of three.
Turn turn_of(int contestant, int warming, double each_s) {
    constexpr double most = 200;
    const double each = std::clamp(std::ceil(shortest_sample_s / std::max(each_s, 1e-9)), 1.0, most);
    return {contestant, warming, each_s > long_s ? 1 : 3, std::max(static_cast<int>(each), least_each(each_s))};
}
int exchanges(const Turn& turn) { return turn.warming + turn.samples * turn.each; }

class Race {
public:
    Race(const std::vector<Candidate>& contestants, Track& track)
        : contestants_(contestants), track_(track), standings_(contestants.size()) {}

    RaceResult run() {
        for (int i = 0; i < count(); ++i)
            if (is_worth_trying(contestants_[at(i)]) && (track_.elapsed() < most_s || best_early() == Standing::unknown)) qualify(i);
        for (int i = 0; i < count(); ++i)
            if (standing(i).made) in_.push_back(i);
        if (in_.empty()) return {-1, std::move(standings_)};
        look_again();
        final();
        const int winner = first_by([this](int i) { return seconds(i) * contestants_[at(i)].handicap; });
        return {winner, std::move(standings_)};
    }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    int count() const { return static_cast<int>(contestants_.size()); }
    Standing& standing(int i) { return standings_[at(i)]; }
    double best_early() const {
        double best = Standing::unknown;
        for (const Standing& each : standings_) best = std::min(best, each.early);
        return best;
    }
    bool has_time() const { return track_.spent() < most_s; }
    double seconds(int i) const { return standings_[at(i)].seconds(); }
    template <class Time>
    int first_by(Time&& time) const {
        return *std::ranges::min_element(in_, {}, time);
    }
    int fastest() const {
        return first_by([this](int i) { return seconds(i); });
    }

    // Where the one that it comes after could not be made, nothing is known.
    bool is_worth_trying(const Candidate& candidate) const {
        if (candidate.after < 0) return true;
        const Standing& before = standings_[at(candidate.after)];
        return before.made ? before.early <= candidate.within * best_early() : !before.refusal.empty();
    }

    double take(const Turn& turn) {
        const double seconds = track_.take({turn}).front();
        Standing& own = standing(turn.contestant);
        own.early = std::min(own.early, seconds);
        return seconds;
    }

    // The first exchange touches and connects: the lower of two tells.
    void qualify(int i) {
        standing(i).refusal = track_.make(i);
        if (!standing(i).refusal.empty()) return;
        standing(i).made = true;
        const double rivals = best_early();
        const double better = take({i, 0, 2, 1});
        if (better < out_factor * rivals) warm_up(i, better);
    }

    // Long lists take some ten exchanges to settle in the caches, from which those that are tried later profit too.
    void warm_up(int i, double before) {
        for (int turns = 0; turns < most_warming_turns; ++turns) {
            const double now = take(turn_of(i, 0, before));
            if (now > still_warming * before || track_.spent() > most_exchanges / 2 * standing(i).early || !has_time()) break;
            before = now;
        }
    }

    // A disturbance seldom lasts until all others have been tried. What came first found its arrays in memory, not in caches.
    void look_again() {
        std::vector<Turn> turns;
        for (const int i : in_)
            if (standing(i).early > finalist_factor * best_early()) turns.push_back({i, 0, 1, 1});
        if (turns.empty() || !has_time()) return;
        const std::vector<double> seconds = track_.take(turns);
        for (std::size_t k = 0; k < turns.size(); ++k) {
            const int i = turns[k].contestant;
            standing(i).early = std::min(standing(i).early, seconds[k]);
            if (seconds[k] < out_factor * best_early()) take(turn_of(i, 0, seconds[k]));
        }
    }

    void final() {
        std::erase_if(in_, [this](int i) { return standing(i).early > finalist_factor * best_early(); });
        for (int round = 0; round < most_rounds && in_.size() > 1; ++round) {
            if (round > 0 && !is_affordable(round)) return;
            take_turns(round);
            narrow(staying_factors[std::min(round, 2)]);
            if (round + 1 >= least_rounds && stands_out()) return;
        }
    }

    bool is_affordable(int round) const {
        if (!has_time()) return false;
        const double best = best_early();
        const double turns = static_cast<double>(in_.size()) * exchanges(turn_of(0, 1, best)) * best;
        return round < least_rounds || track_.spent() + turns <= std::max(most_exchanges * best, affordable_s);
    }

    // Forth and back: whoever comes next does not always profit from the same one before.
    void take_turns(int round) {
        std::vector<Turn> turns;
        for (const int i : in_) turns.push_back(turn_of(i, 1, best_early()));
        if (round % 2 == 1) std::reverse(turns.begin(), turns.end());
        const std::vector<double> seconds = track_.take(turns);
        for (std::size_t k = 0; k < turns.size(); ++k) standing(turns[k].contestant).turns.push_back(seconds[k]);
    }

    double best_turn(int i) const { return *std::min_element(standings_[at(i)].turns.begin(), standings_[at(i)].turns.end()); }

    // By the best that whoever is behind has shown: a disturbed turn leaves nobody out.
    void narrow(double factor) {
        const double best = seconds(fastest());
        std::erase_if(in_, [&](int i) { return std::min(best_turn(i), standings_[at(i)].early) > factor * best; });
    }

    // Whether no other has had a turn as fast as the usual one of the fastest.
    bool stands_out() const {
        const int best = fastest();
        return std::none_of(in_.begin(), in_.end(), [&](int i) { return i != best && best_turn(i) <= seconds(best); });
    }

    const std::vector<Candidate>& contestants_;
    Track& track_;
    std::vector<Standing> standings_;
    std::vector<int> in_;  // who may win
};

}  // namespace

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double Standing::seconds() const { return turns.empty() ? early : median(turns); }

RaceResult run_race(const std::vector<Candidate>& contestants, Track& track) { return Race(contestants, track).run(); }

}  // namespace parhelion
