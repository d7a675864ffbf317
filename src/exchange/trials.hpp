// Trial exchanges, in the manner in which the exchange will be used.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "exchange/race.hpp"
#include "exchange/stages.hpp"

namespace parhelion {

/// How an exchange will be used, equal on all ranks.
struct Use {
    bool overlap = false;  ///< begun and ended around work; else called at once
    bool at_once = false;  ///< never begun
    double work_s =
        0;  ///< of each rank: between begin and end, or before each call. With overlap, 0: as long as an exchange takes, at most 200 µs
};

/// Contestants are made and timed on all ranks together; of each turn the slowest rank counts. Only the time inside the exchange is
/// counted, not the work, during which the rank spins. Ghosts are overwritten.
class Trials final : public Track {
public:
    Trials(const Plan& plan, const BoundArrays& arrays, const std::vector<Candidate>& contestants, const Use& use, StagedPlans& staged);

    std::string make(int contestant) override;
    std::vector<double> take(const std::vector<Turn>& turns) override;
    double spent() const override { return spent_; }
    double elapsed() const override { return elapsed_; }
    /// The winner's forward direction. The others go with this object.
    std::unique_ptr<Stages> take_out(int contestant);

private:
    double seconds_of(Stages& stages, int exchanges);
    double seconds_of_one(Stages& stages);
    void measure_work(double exchange_s);

    const Plan& plan_;
    const BoundArrays& arrays_;
    const std::vector<Candidate>& contestants_;
    Use use_;
    StagedPlans& staged_;
    bool work_is_unknown_;  // until the first turn tells what an exchange takes
    std::vector<std::unique_ptr<Stages>> made_;
    double spent_ = 0, elapsed_ = 0;  // agreed on
    double own_turns_s_ = 0;          // of this rank, not yet agreed on
    const double start_ = MPI_Wtime();
};

}  // namespace parhelion
