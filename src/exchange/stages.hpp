// All stages of an exchange with one choice of transports.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "exchange/background.hpp"
#include "exchange/failure_notes.hpp"
#include "exchange/stage_exchange.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// Runs stages one after another; a reverse exchange from the last of the plan's to the first.
/// Between begin and end, any thread of this process that waits in another exchange gets this one
/// on, too.
class Stages final : BackgroundWork {
public:
    /// Collective: makes the forward direction, which goes by `forward` where that is another plan
    /// for the same ghosts (plan_in_order).
    Stages(const Plan& plan, const BoundArrays& arrays, const Choice& choice,
           std::shared_ptr<const Plan> forward = nullptr);
    /// Collective: makes the reverse one, once. Which may combine before `end`, unless it is told
    /// not to.
    void make_reverse(bool combine_in_end);
    ~Stages() override;
    Stages(const Stages&) = delete;
    Stages& operator=(const Stages&) = delete;

    /// When other arrays were bound: why a transport cannot move them, empty where all can.
    std::string refusal(Direction direction);
    /// After what `queue` has now, where one is given.
    void begin(Direction direction, Reduction reduction = Reduction::replace,
               Queue* queue = nullptr);
    /// After begin: the caller does something else before it ends the exchange. Neighbors get what
    /// is for them, unless packing it has to wait for a queue of the caller's.
    void leave(bool may_wait);
    /// After begin: does what can be done without waiting. Whether `end` will not have to wait for
    /// a neighbor that lives.
    bool test();
    /// Waits for the neighbors, at most `timeout_s` until something arrives. `look` is called
    /// meanwhile, and may throw. After an error the exchange cannot be used again. Then for this
    /// rank's copies, or where there is a queue, what is put there afterwards does.
    void end(double timeout_s, Queue* queue = nullptr, const std::function<void()>& look = {});
    /// What the forward direction goes by.
    const Plan& forward_plan() const { return staged_ ? *staged_ : plan_; }
    /// After begin, instead of end: it is given up for a reason that neighbors know.
    void abandon(std::exception_ptr reason);
    bool calls_mpi() const { return calls_mpi_; }
    /// Whether other ranks need this one to get the direction's exchanges on.
    bool passes_on(Direction direction) {
        return std::ranges::any_of(stages(direction),
                                   [](const StageExchange& stage) { return stage.passes_on(); });
    }
    /// Of all stages of the forward direction; nothing where no transport collects messages.
    std::vector<NodeTraffic> traffic() const;

    /// Throws Error where this thread is inside already: the program's reduction, which it calls,
    /// may not use the exchange.
    void require_outside() const {
        if (holder_.load(std::memory_order_relaxed) == std::this_thread::get_id()) refuse_inside();
    }

private:
    class Hold;
    [[noreturn]] static void refuse_inside();
    bool advance() override;
    bool may_work_here() const;
    void prepare(Direction direction, Reduction reduction);
    Poll poll(bool in_end = false);
    void begin_next();
    void finish(double timeout_s, const std::function<void()>& look);
    void refuse_failure() const;
    bool notes_failures() const {
        return notes_ && direction_ == Direction::reverse && reduction_.by() != nullptr;
    }
    std::size_t stage_of_plan() const { return plan_.stages.size() - 1 - stage_; }
    bool all_moved() { return stage_ == stages().size() && queue_->is_done(copied_); }
    [[noreturn]] void give_up();
    int lost_rank() const;
    std::vector<StageExchange>& stages(Direction direction) {
        return direction == Direction::forward ? forward_ : reverse_;
    }
    std::vector<StageExchange>& stages() { return stages(direction_); }

    const Plan& plan_;
    const std::shared_ptr<const Plan> staged_;  // null: forward, too, by plan_
    const BoundArrays& arrays_;
    const Choice choice_;
    const std::shared_ptr<Queue> queue_;            // of all copies
    Event copied_;                                  // the last one's
    std::vector<StageExchange> forward_, reverse_;  // in the order in which they run
    std::unique_ptr<FailureNotes> notes_;  // null: no stage passes on what another combines
    bool calls_mpi_ = false, combine_in_end_ = false;
    std::atomic<std::thread::id>
        holder_{};  // the thread that is at it, if any; guards what follows
    Direction direction_ = Direction::forward;
    Reduction reduction_ = Reduction::replace;
    std::size_t stage_ = 0;
    int idle_tests_ = 0;  // since something moved
    std::thread::id begun_by_;
    std::exception_ptr failure_;
    NodeContext* watched_;  // null: nobody can be watched
};

}  // namespace parhelion
