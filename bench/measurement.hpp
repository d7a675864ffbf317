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
    const Levels* levels = nullptr;  // where messages are to be counted by level
    Energy* energy = nullptr;        // where the nodes tell
    Turns* turns = nullptr;          // with another program
};

/// A variant on its way through a case, with what is known of it so far. All calls are
/// collective, and the ranks agree after each on whether it is still in the race.
class Measurement {
public:
    Measurement(const Entry& entry, Ground ground, const Work& work = {});

    /// Several exchanges with new values each, every element compared. The first one's time is
    /// kept.
    void verify_first_exchanges();

    /// Finds how many exchanges make a sample of at least `least_s`.
    void choose_iterations(double least_s);

    /// `phases`: and as many exchanges again, phase by phase.
    void take_sample(bool phases = false);

    /// As many exchanges as a sample has, starting from poisoned ghosts, every element compared.
    void verify_a_whole_sample();

    /// Whether the samples so far tell the median to within `share` of it (see samples.hpp);
    /// looked at in every fifth call only, and once true for good.
    bool is_precise(double share);

    bool is_in() const { return variant_ != nullptr; }

    /// Ends the variant and gathers what it left: final.
    Outcome finish();

private:
    template <class Work>
    void attempt(Work&& work);
    void checked_round(std::int64_t exchanges);
    void judge();
    double batch(std::int64_t exchanges);
    double watched_batch();
    void time_phases();
    double exchange(std::int64_t times);
    double exchange_around_work();
    MPI_Comm comm() const { return ground_.comm.handle(); }
    double slowest(double mine) const;
    std::vector<double> mean_over_ranks(std::vector<double> mine) const;

    Ground ground_;
    double work_s_;  // of this rank, between the halves of an exchange; 0: called at once
    std::unique_ptr<Variant> variant_;
    Outcome outcome_;
    SetupTimes setup_;
    std::vector<double> samples_;
    std::vector<double> in_exchange_;  // beside each sample, for those that tell it
    std::array<std::vector<double>, std::tuple_size_v<Phases>> phases_;
    double joules_ = 0;  // of this rank's node, in all samples
    Arrivals arrivals_;
    unsigned round_ = 0;
    std::int64_t wrong_ = 0;  // elements on this rank, over all rounds
    bool precise_ = false;
    double exchange_s_ = 0;  // estimate, maximum over ranks
};

/// Collective. Makes the case's variants, verifies each, lets them take turns until each has its
/// samples, verifies each again and reports the outcomes. A variant that fails is out, and the
/// others go on.
void run_case(const Case& which, const Job& job, Ground ground, const ReportOutcome& report);

}  // namespace parhelion::bench
