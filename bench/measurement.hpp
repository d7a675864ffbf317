#pragma once

#include <array>
#include <memory>

#include "barrier.hpp"
#include "energy.hpp"
#include "options.hpp"
#include "parhelion/core/communicator.hpp"
#include "record.hpp"
#include "samples.hpp"
#include "turns.hpp"
#include "variant.hpp"

namespace parhelion::bench {

struct Ground {
  const Communicator& comm;
  StartLine& start_line;
  FlagProbe& probe;
  Turns& turns;                    // with another program, if there is one
  const Levels* levels = nullptr;  // null: do not count messages by level
  Energy* energy = nullptr;        // null: no counters
};

/// The measurement of one variant of a case. All calls are collective; after each, the ranks agree
/// on whether the variant failed.
class Measurement {
 public:
  Measurement(const Entry& entry, Ground ground, const Work& work = {});

  /// Runs four exchanges with new values each, compares every element, times the first exchange.
  void verify_first_exchanges();

  /// Chooses the number of exchanges per sample, of at least `least_s`.
  void choose_iterations(double least_s);

  /// Takes a sample; with `phases`, also times as many exchanges phase by phase.
  void take_sample(bool phases = false);

  /// Poisons ghosts, runs as many exchanges as a sample, compares every element.
  void verify_a_whole_sample();

  /// Whether half_width_of_median() is at most `share`; tested after every fifth sample, then
  /// stays true.
  bool is_precise(double share);

  bool is_in() const { return variant_ != nullptr; }

  /// Destroys the variant and reduces its results; the last call.
  Outcome finish();

 private:
  template <class Work>
  void attempt(Work&& work);
  void checked_round(std::int64_t exchanges);
  void judge();
  void warm_up();
  double batch(std::int64_t exchanges);
  double watched_batch();
  void time_phases();
  double exchange(std::int64_t times);
  double exchange_around_work();
  MPI_Comm comm() const { return ground_.comm.handle(); }
  double slowest(double mine) const;
  std::vector<double> mean_over_ranks(std::vector<double> mine) const;

  Ground ground_;
  double work_s_;  // of this rank, between begin and end; 0: none
  std::unique_ptr<Variant> variant_;
  Outcome outcome_;
  SetupTimes setup_;
  std::vector<double> samples_;
  std::vector<double> in_exchange_;  // per sample, if step_held() measures it
  std::array<std::vector<double>, std::tuple_size_v<Phases>> phases_;
  double joules_ = 0;  // of this rank's node, all samples
  Arrivals arrivals_;
  unsigned round_ = 0;
  std::int64_t wrong_ = 0;  // elements on this rank, all rounds
  bool precise_ = false;
  double exchange_s_ = 0;  // estimate, maximum over ranks
};

/// Collective. Creates and verifies the case's variants, samples them interleaved, verifies each
/// again and reports the outcomes. Drops a variant that fails; the others continue.
void run_case(const Case& which, const Job& job, Ground ground, const ReportOutcome& report);

}  // namespace parhelion::bench
