// Decisions of the race of transports from given times, without a clock.
#include <algorithm>

#include <functional>
#include <list>
#include <random>

#include "support/cases.hpp"

#include "exchange/selection.hpp"

using namespace parhelion;

namespace {

// Seconds of a contestant's nth exchange (from 0), which is exchange `of_all` of all contestants.
using Times = std::function<double(int contestant, int nth, int of_all)>;

class Planted final : public Track {
 public:
  Planted(std::size_t contestants, Times times)
      : times_(std::move(times)), done_(contestants), refusals_(contestants) {}

  std::string make(int contestant) override {
    made_.push_back(contestant);
    return refusals_[static_cast<std::size_t>(contestant)];
  }
  std::vector<double> take(const std::vector<Turn>& turns) override {
    ++agreements_;
    std::vector<double> seconds;
    for (const Turn& turn : turns) {
      for (int i = 0; i < turn.warming; ++i) exchange(turn.candidate);
      std::vector<double> samples;
      for (int s = 0; s < turn.samples; ++s) {
        double counted = 0;
        for (int i = 0; i < turn.each; ++i) counted += exchange(turn.candidate);
        if (turn.each % 2 == 1 && apart) counted += apart();
        samples.push_back(counted / turn.each);
      }
      seconds.push_back(median(samples));
    }
    return seconds;
  }
  double spent() const { return spent_; }
  double elapsed() const override { return spent_ + making_s * static_cast<double>(made_.size()); }

  double making_s = 0;  // seconds per contestant
  std::function<double()>
      apart;  // extra seconds of the slowest node, which its next exchange recovers
  Planted& refuse(int contestant, const std::string& why) {
    refusals_[static_cast<std::size_t>(contestant)] = why;
    return *this;
  }
  const std::vector<int>& made() const { return made_; }
  int agreements() const { return agreements_; }

 private:
  double exchange(int contestant) {
    const double seconds =
        times_(contestant, done_[static_cast<std::size_t>(contestant)]++, of_all_++);
    spent_ += seconds;
    return seconds;
  }
  Times times_;
  std::vector<int> done_, made_;
  std::vector<std::string> refusals_;
  int of_all_ = 0, agreements_ = 0;
  double spent_ = 0;
};

// Names only document the cases.
std::vector<Candidate> named(std::initializer_list<const char*> names) {
  static const TransportInfo any{"any", "", Scope::anywhere, nullptr, nullptr};
  return std::vector<Candidate>(names.size(), Candidate{{&any, &any, &any}});
}

void give_handicap(Candidate& candidate, double handicap) {
  static std::list<TransportInfo> all;  // candidates point to elements
  const TransportInfo& slow = all.emplace_back(
      TransportInfo{"slow", "", Scope::anywhere, nullptr, nullptr, {.handicap = handicap}});
  candidate.choice = {&slow, &slow, &slow};
}

constexpr double us = 1e-6;

Times steady(std::vector<double> seconds) {
  return
      [seconds](int contestant, int, int) { return seconds[static_cast<std::size_t>(contestant)]; };
}

}  // namespace

CASE("the fastest wins, wherever it stands") {
  for (int fastest = 0; fastest < 4; ++fastest) {
    std::vector<double> seconds(4, 20 * us);
    seconds[static_cast<std::size_t>(fastest)] = 15 * us;
    Planted track(4, steady(seconds));
    EXPECT_EQ(run_race(named({"a", "b", "c", "d"}), track).winner, fastest);
  }
}

CASE("trials cost some 50 exchanges of the fastest, and no more when the others are slow") {
  for (const double each : {1 * us, 10 * us, 100 * us, 1000 * us}) {
    Planted close(3, steady({each, 1.1 * each, 2.5 * each}));
    run_race(named({"a", "b", "c"}), close);
    EXPECT_LE(close.spent(), std::max(60 * each, 400 * us));
    Planted apart(3, steady({each, 8 * each, 8 * each}));
    run_race(named({"a", "b", "c"}), apart);
    EXPECT_LE(apart.spent(), std::max(60 * each, 400 * us));
  }
}

CASE("where an exchange takes milliseconds, what one round and the first trials take is all") {
  Planted track(4, steady({5e-3, 6e-3, 7e-3, 10e-3}));
  const RaceResult result = run_race(named({"a", "b", "c", "d"}), track);
  EXPECT_EQ(result.winner, 0);
  EXPECT_LE(track.spent(), 0.25);
  EXPECT_LE(track.agreements(), 25);
}

CASE("where it takes long to make contestants, later ones are not tried, but one is") {
  Planted track(4, steady({4e-3, 3e-3, 2e-3, 1e-3}));
  track.making_s = 0.06;
  EXPECT_EQ(run_race(named({"a", "b", "c", "d"}), track).winner, 2);
  EXPECT_EQ(track.made(), (std::vector{0, 1, 2}));
  Planted slow(2, steady({10 * us, 5 * us}));
  slow.making_s = 10;
  EXPECT_EQ(run_race(named({"a", "b"}), slow).winner, 0);
}

CASE("where exchanges wait for the network, how far apart nodes begin does not decide") {
  int wrong = 0;
  constexpr int races = 500;
  for (unsigned seed = 0; seed < races; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> latencies(0, 1e-3);
    Planted track(3, steady({1.5e-3, 1.2e-3, 1.4e-3}));
    track.making_s = 0.04;
    track.apart = [&] { return latencies(random); };
    wrong += run_race(named({"a", "b", "c"}), track).winner != 1;
  }
  say(wrong, " of ", races, " races went wrong");
  EXPECT_LE(wrong, races / 10);
}

CASE("a way whose first trials were disturbed comes back and wins") {
  for (int late = 0; late < 3; ++late) {
    const auto times = [late](int contestant, int nth, int) {
      const double usual = contestant == late ? 10 * us : 20 * us;
      return contestant == late && nth < 2 ? 30 * usual : usual;
    };
    Planted track(3, times);
    EXPECT_EQ(run_race(named({"a", "b", "c"}), track).winner, late);
  }
}

CASE("a disturbance of some exchanges in a row, whenever it comes, changes nothing") {
  for (int start = 0; start < 60; ++start)
    for (const int length : {1, 2, 3}) {
      CAPTURE(start);
      CAPTURE(length);
      Planted track(3, [=](int contestant, int, int of_all) {
        const double usual = (contestant == 1 ? 30 : contestant == 0 ? 50 : 70) * us;
        return of_all >= start && of_all < start + length ? usual + 4e-3 : usual;
      });
      EXPECT_EQ(run_race(named({"a", "b", "c"}), track).winner, 1);
    }
}

CASE(
    "a way that has to find its caches again after another one's turn is judged by what it takes "
    "then") {
  int last = -1, in_a_row = 0;
  Planted track(2, [&](int contestant, int, int) {
    in_a_row = contestant == last ? in_a_row + 1 : 1;
    last = contestant;
    return contestant == 0 ? 125 * us : in_a_row <= 4 ? 137 * us : 74 * us;
  });
  EXPECT_EQ(run_race(named({"straight", "packed"}), track).winner, 1);
}

CASE("one turn that is faster than usual does not make a winner") {
  Planted track(2, [](int contestant, int nth, int) {
    return contestant == 0 ? 200 * us : nth % 5 == 3 ? 120 * us : 260 * us;
  });
  EXPECT_EQ(run_race(named({"even", "lucky"}), track).winner, 0);
}

CASE("with every eighth exchange disturbed at random the choice is at most 1.1 of the best") {
  int wrong = 0;
  constexpr int races = 2000;
  for (unsigned seed = 0; seed < races; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> share(0, 1);
    std::vector<double> usual;
    for (int i = 0; i < 4; ++i) usual.push_back((20 + 60 * share(random)) * us);
    Planted track(4, [&](int contestant, int, int) {
      const double seconds =
          usual[static_cast<std::size_t>(contestant)] * (1 + 0.05 * share(random));
      return share(random) < 0.125 ? seconds * (1 + 20 * share(random)) : seconds;
    });
    const int winner = run_race(named({"a", "b", "c", "d"}), track).winner;
    wrong += usual[static_cast<std::size_t>(winner)] >
             1.1 * *std::min_element(usual.begin(), usual.end());
  }
  say(wrong, " of ", races, " races went wrong");
  EXPECT_LE(wrong, races / 100);
}

CASE("who has a handicap has to win clearly") {
  std::vector<Candidate> ways = named({"straight", "packed"});
  give_handicap(ways[0], 1.05);
  const auto winner = [&](double straight, double packed) {
    Planted track(2, steady({straight * us, packed * us}));
    return run_race(ways, track).winner;
  };
  EXPECT_EQ(winner(48, 50), 1);
  EXPECT_EQ(winner(40, 50), 0);
  give_handicap(ways[0], 1);
  EXPECT_EQ(winner(48, 50), 0);
}

CASE("who cannot be made is left out with its reason, and when nobody can there is no winner") {
  Planted track(2, steady({10 * us, 20 * us}));
  track.refuse(0, "no memory");
  const RaceResult result = run_race(named({"a", "b"}), track);
  EXPECT_EQ(result.winner, 1);
  EXPECT_EQ(result.standings[0].refusal, "no memory");
  EXPECT_FALSE(result.standings[0].made);
  Planted none(2, steady({1, 1}));
  none.refuse(0, "no").refuse(1, "no");
  EXPECT_EQ(run_race(named({"a", "b"}), none).winner, -1);
}

CASE("what differs little from another way is made only where that one is near the fastest") {
  std::vector<Candidate> ways = named({"ring", "messages", "similar"});
  ways[2].after = 1;
  ways[2].within = 1.5;
  const auto made = [&](double messages, const std::string& refusal) {
    Planted track(3, steady({10 * us, messages * us, 9 * us}));
    track.refuse(1, refusal);
    run_race(ways, track);
    return track.made();
  };
  EXPECT_EQ(made(30, ""), (std::vector{0, 1}));
  EXPECT_EQ(made(14, ""), (std::vector{0, 1, 2}));
  EXPECT_EQ(made(30, "cannot be made, so that nothing is known"), (std::vector{0, 1, 2}));
}

CASE("what is cheap beside long exchanges alone is made there alone") {
  std::vector<Candidate> all = named({"messages", "collective"});
  all[1].least_s = 100 * us;
  for (const auto& [seconds, tried] : {std::pair{90 * us, 1}, std::pair{110 * us, 2}}) {
    Planted track(2, steady({seconds, 0.8 * seconds}));
    EXPECT_EQ(run_race(all, track).winner, tried - 1);
    EXPECT_EQ(track.made().size(), tried);
  }
}

CASE(
    "cores that move during the race, whenever they do, let nobody win who is much slower than "
    "another in both states") {
  for (int move = 0; move < 60; ++move) {
    Planted track(3, [move](int candidate, int, int of_all) {
      const double near[] = {60 * us, 50 * us, 90 * us}, far[] = {240 * us, 120 * us, 130 * us};
      return of_all < move ? near[candidate] : far[candidate];
    });
    CAPTURE(move);
    EXPECT_EQ(run_race(named({"straight", "ring", "messages"}), track).winner, 1);
  }
}
