// An exchange with one choice of transports: its stages, one after another.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exchange/background.hpp"
#include "exchange/selection.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// What one look at the neighbors led to.
enum class Poll { nothing, moved, complete };

/// One stage in one direction: its transports, each with some of the links, and the rank's own
/// images.
class StageExchange {
public:
    /// Collective: makes the transports of `choice`.
    StageExchange(const Plan& plan, const BoundArrays& arrays, Queue& queue, Direction direction,
                  const StagePlan& stage, const Choice& choice);

    /// When other arrays were bound: why a transport cannot move them, empty where all can.
    std::string refusal();
    void begin();
    /// The caller goes away: neighbors must be able to end this exchange without it.
    void leave();
    /// Does what can be done without waiting. A reverse exchange combines in ascending order of
    /// rank; where it must not, it takes note of what has arrived.
    Poll poll(Reduction reduction, bool may_combine);
    /// Whether a reverse exchange has all that it combines.
    bool arrived() const { return !forward() && missing_ == 0; }
    std::string missing_text() const;

    /// Where to sleep, null when no neighbor is on this node.
    NodeContext* node() const { return node_; }
    bool must_poll() const { return must_poll_; }
    bool calls_mpi() const { return calls_mpi_; }
    bool passes_on() const;
    std::vector<NodeTraffic> traffic() const;

private:
    struct Part {
        std::unique_ptr<Transport> transport;
        std::vector<int> slots;  // of the stage, by the transport's own
    };
    struct Home {
        const TransportInfo* info;
        Transport* transport;
        int slot;
    };
    bool forward() const { return direction_ == Direction::forward; }
    void make(const TransportInfo& info);
    int ready();
    void deliver(int slot, Reduction reduction);
    bool finished();
    void copy(const Program& program, Reduction reduction = Reduction::replace);
    void copy_own_images();
    bool take_arrived(Reduction reduction);
    bool combine_in_order(Reduction reduction);
    void combine_own(Reduction reduction);

    const Plan& plan_;
    const BoundArrays& arrays_;
    Queue& queue_;
    const Direction direction_;
    const StagePlan& stage_;
    std::vector<Home> homes_;  // by slot: link
    std::vector<Part> parts_;
    int missing_ = 0;
    bool wrapped_ = false;       // forward: images that need what has arrived are copied
    std::vector<bool> arrived_;  // reverse: and not combined yet
    std::size_t combined_ = 0;   // reverse: slots, which are in ascending order of rank
    bool own_combined_ = false;  // reverse: this rank's own ghosts
    NodeContext* node_ = nullptr;
    bool must_poll_ = false, calls_mpi_ = false;
};

class FailureNotes;

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
    void stop();
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
    std::atomic<std::thread::id> holder_{};  // the thread that is at it; guards what follows
    Direction direction_ = Direction::forward;
    Reduction reduction_ = Reduction::replace;
    std::size_t stage_ = 0;
    int idle_tests_ = 0;  // since something moved
    std::thread::id begun_by_;
    std::exception_ptr failure_;
    NodeContext* watched_;  // null: nobody can be watched
};

}  // namespace parhelion
