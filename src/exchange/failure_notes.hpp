// Who learns that a reduction of the program's has failed, in a reverse exchange by dimensions.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// What a rank has combined in one stage goes on to others in the next: beside it goes which rank's
/// reduction has failed, if any. Only where the reduction is the program's own, for others cannot.
class FailureNotes {
public:
    /// Collective.
    explicit FailureNotes(const Plan& plan);
    ~FailureNotes();
    FailureNotes(const FailureNotes&) = delete;
    FailureNotes& operator=(const FailureNotes&) = delete;

    /// A reverse exchange begins.
    void reset() { failed_ = -1; }
    /// Before values are sent in the stage of that number in the plan. `failed`: on this rank.
    void begin(std::size_t stage, bool failed);
    /// Whether the stage's notes have been taken, here and by the neighbors. Does not wait.
    bool have_arrived(std::size_t stage);
    /// The rank whose failure has reached this one; −1: none.
    int failed_rank() const { return failed_; }

private:
    struct StageNotes;

    const Communicator comm_;
    Tag tag_;
    std::vector<std::shared_ptr<StageNotes>> stages_;
    int failed_ = -1;
};

}  // namespace parhelion
