// Selects the fastest candidate from times alone: tests make them up.
#include <cmath>

#include "exchange/selection.hpp"

namespace parhelion {
namespace {

constexpr double most_exchanges = 40;    // budget, in exchanges of the fastest
constexpr double affordable_s = 250e-6;  // allowed for any plan
// Bounds the set-up of candidates and the trials: one exchange may take milliseconds.
constexpr double most_s = 0.15;
constexpr double shortest_sample_s = 5e-6;  // much longer than the clock's resolution
constexpr double long_s = 1e-3;             // longer exchanges are sampled once
constexpr double out_factor = 1.8;          // slower first exchanges: no more trials
constexpr double finalist_factor = 1.4;     // limit for the rounds
constexpr double staying_factors[] = {1.25, 1.12, 1.06};
constexpr int least_rounds = 3, most_rounds = 9;
constexpr int most_warming_turns = 4;
constexpr double still_warming = 0.93;

// Several samples outvote a disturbed one. Long exchanges wait for the network: a node that begins
// early waits longer in one exchange, shorter in the next, so one sample averages two.
Turn turn_of(int candidate, int warming, double each_s) {
  constexpr double most = 200;
  const double each = std::clamp(std::ceil(shortest_sample_s / std::max(each_s, 1e-9)), 1.0, most);
  if (each_s > long_s) return {candidate, warming, 1, 2};
  return {candidate, warming, warming > 0 ? 2 : 3, static_cast<int>(each)};
}

int exchanges(const Turn& turn) { return turn.warming + turn.samples * turn.each; }

class Race {
 public:
  Race(const std::vector<Candidate>& candidates, Track& track)
      : candidates_(candidates), track_(track), standings_(candidates.size()) {}

  RaceResult run() {
    for (int i = 0; i < std::ssize(candidates_); ++i)
      if (is_worth_trying(candidates_[i])) qualify(i);
    if (in_.empty()) return {-1, std::move(standings_)};
    look_again();
    meet_in_rounds();
    const auto counted = [this](int i) { return seconds(i) * candidates_[i].choice.handicap(); };
    return {*std::ranges::min_element(in_, {}, counted), std::move(standings_)};
  }

 private:
  Standing& standing(int i) { return standings_[i]; }
  double seconds(int i) const { return standings_[i].seconds(); }
  int fastest() const {
    return *std::ranges::min_element(in_, {}, [this](int i) { return seconds(i); });
  }
  double best_early() const { return std::ranges::min(standings_, {}, &Standing::early).early; }

  // After a refused predecessor, nothing is known: tries the candidate.
  bool is_worth_trying(const Candidate& candidate) const {
    const double best = best_early();
    if (best == Standing::unknown) return true;
    if (track_.elapsed() >= most_s || best < candidate.least_s) return false;
    if (candidate.after < 0) return true;
    const Standing& before = standings_[candidate.after];
    return before.made ? before.early <= candidate.within * best : !before.refusal.empty();
  }

  std::vector<double> take(const std::vector<Turn>& turns) {
    std::vector<double> all = track_.take(turns);
    for (std::size_t k = 0; k < turns.size(); ++k) spent_s_ += exchanges(turns[k]) * all[k];
    return all;
  }
  double take_early(const Turn& turn) {
    const double now = take({turn}).front();
    standing(turn.candidate).early = std::min(standing(turn.candidate).early, now);
    return now;
  }

  // The minimum of two: the first touches memory and connects. Long lists settle in the caches
  // after about ten exchanges, which speeds up later candidates too.
  void qualify(int i) {
    standing(i).refusal = track_.make(i);
    if (!standing(i).refusal.empty()) return;
    standing(i).made = true;
    in_.push_back(i);
    const double rivals = best_early();
    double now = take_early({i, 0, 2, 1});
    if (now >= out_factor * rivals) return;
    for (int turns = 0; turns < most_warming_turns; ++turns) {
      const double before = std::exchange(now, take_early(turn_of(i, 0, now)));
      if (now > still_warming * before || spent_s_ > most_exchanges / 2 * standing(i).early ||
          spent_s_ > most_s)
        return;
    }
  }

  // Times all candidates again: disturbances or core changes may have hit early ones. Those near
  // the fastest, now or before, enter the rounds.
  void look_again() {
    const double best_before = best_early();
    const auto was_near = [&](int i) { return standing(i).early <= finalist_factor * best_before; };
    if (std::ranges::all_of(in_, was_near) || spent_s_ > most_s)
      return std::erase_if(in_, std::not_fn(was_near)), void();
    std::vector<Turn> turns;
    for (const int i : in_) turns.push_back({i, 0, 1, 1});
    std::vector<double> now = take(turns);
    const double best_now = std::ranges::min(now);
    in_.clear();
    for (std::size_t k = 0; k < turns.size(); ++k) {
      const int i = turns[k].candidate;
      const bool stays = was_near(i);
      if (!stays && now[k] < out_factor * best_now)
        now[k] = std::min(now[k], take_early(turn_of(i, 0, now[k])));
      if (stays || now[k] <= finalist_factor * best_now) in_.push_back(i);
    }
  }

  void meet_in_rounds() {
    for (int round = 0; round < most_rounds && in_.size() > 1; ++round) {
      if (round > 0 && !is_affordable(round)) return;
      take_round(round);
      drop_slow(staying_factors[std::min(round, 2)]);
      if (round + 1 >= least_rounds && stands_out()) return;
    }
  }

  bool is_affordable(int round) const {
    if (spent_s_ > most_s) return false;
    const double best = best_early();
    const double next = static_cast<double>(in_.size()) * exchanges(turn_of(0, 1, best)) * best;
    return round < least_rounds || spent_s_ + next <= std::max(most_exchanges * best, affordable_s);
  }

  // Alternates the order: each candidate may slow down or speed up the next.
  void take_round(int round) {
    std::vector<Turn> turns;
    for (const int i : in_) turns.push_back(turn_of(i, 1, best_early()));
    if (round % 2 == 1) std::ranges::reverse(turns);
    const std::vector<double> now = take(turns);
    for (std::size_t k = 0; k < turns.size(); ++k)
      standing(turns[k].candidate).rounds.push_back(now[k]);
  }

  double best_round(int i) const { return std::ranges::min(standings_[i].rounds); }

  // Compares best times: one disturbed turn drops no candidate.
  void drop_slow(double factor) {
    const double best = seconds(fastest());
    std::erase_if(
        in_, [&](int i) { return std::min(best_round(i), standings_[i].early) > factor * best; });
  }

  // Whether no other's best reaches the fastest's median.
  bool stands_out() const {
    const int best = fastest();
    return std::ranges::none_of(
        in_, [&](int i) { return i != best && best_round(i) <= seconds(best); });
  }

  const std::vector<Candidate>& candidates_;
  Track& track_;
  std::vector<Standing> standings_;
  std::vector<int> in_;
  double spent_s_ = 0;  // approximate, all turns
};

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

RaceResult run_race(const std::vector<Candidate>& candidates, Track& track) {
  return Race(candidates, track).run();
}

}  // namespace parhelion
