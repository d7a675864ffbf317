#pragma once

#include <exception>

#include "exchange/background.hpp"
#include "exchange/selection.hpp"
#include "parhelion/plan/executor.hpp"

namespace parhelion {

enum class Poll;
class StageExchange;
class FailureNotes;

/// Runs an exchange's stages in order, in reverse backward. Between begin and end, any waiting
/// thread of the process advances it.
class Stages final : BackgroundWork {
 public:
  /// Collective: creates the forward direction, of plan `forward` if given: same ghosts, another
  /// order (plan_in_order).
  Stages(const Plan& plan, const BoundArrays& arrays, const Choice& choice,
      std::shared_ptr<const Plan> forward = nullptr);
  /// Collective: creates the reverse direction, unless a trial has, which combines only in `end`
  /// if `combine_in_end`.
  void make_reverse(bool combine_in_end);
  ~Stages() override;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// Call after binding other arrays. Returns why the direction's transports cannot move them, or
  /// "".
  std::string refusal(Direction direction);
  /// Why streams allow no begin or end now, "" if they do. `queue` as in begin and end.
  std::string refusal(Queue* queue);
  /// Waits for the present contents of `queue`, or for the program's device work.
  void wait(Queue* queue);
  /// Begins, after the present contents of `queue` if given. Throws Error for a failed exchange,
  /// and if it cannot follow: then nothing has begun.
  void begin(Direction direction, Reduction reduction = Reduction::replace, Queue* queue = nullptr);
  /// Call after begin when the caller works before `end`: sends, unless packing waits for its
  /// queue.
  void leave(bool may_wait);
  /// Call after begin: progresses without waiting. Returns whether `end` will wait for no living
  /// neighbor.
  bool test();
  /// Waits for neighbors, at most `timeout_s` until the next arrival, and calls `look`, which may
  /// throw; then for this rank's copies, unless `queue` does. Unusable after an error.
  void end(double timeout_s, Queue* queue = nullptr, const std::function<void()>& look = {});
  const Plan& forward_plan() const { return forward_plan_ ? *forward_plan_ : plan_; }
  /// Call instead of end: gives the exchange up for a reason that neighbors know.
  void abandon(std::exception_ptr reason);
  bool calls_mpi() const { return calls_mpi_; }
  /// Whether other ranks need this one to progress in that direction.
  bool passes_on(Direction direction);
  /// Of all forward stages; empty when no transport collects messages.
  std::vector<NodeTraffic> traffic() const;

  /// Throws Error inside a reduction of this exchange.
  void require_outside() const {
    if (holder_.load(std::memory_order_relaxed) == std::this_thread::get_id()) refuse_inside();
  }

 private:
  class Hold;
  [[noreturn]] static void refuse_inside();
  bool advance() override;
  bool may_work_here() const;
  Poll poll(bool in_end = false);
  void begin_next();
  void finish(double timeout_s, const std::function<void()>& look);
  void refuse_failure() const;
  bool notes_failures() const {
    return notes_ && direction_ == Direction::reverse && reduction_.by() != nullptr;
  }
  std::size_t stage_of_plan() const { return plan_.stages.size() - 1 - stage_; }
  bool all_moved();
  [[noreturn]] void give_up();
  void stop();
  int lost_rank() const;
  std::vector<StageExchange>& stages(Direction direction) {
    return direction == Direction::forward ? forward_ : reverse_;
  }
  std::vector<StageExchange>& stages() { return stages(direction_); }

  const Plan& plan_;
  const std::shared_ptr<const Plan> forward_plan_;  // null: forward runs plan_
  const BoundArrays& arrays_;
  const Choice choice_;
  const std::shared_ptr<Queue> queue_;            // of all copies of this exchange
  Event copied_;                                  // the last copy
  std::vector<StageExchange> forward_, reverse_;  // in execution order
  std::unique_ptr<FailureNotes> notes_;           // null: no stage forwards combined values
  bool calls_mpi_ = false, combine_in_end_ = false;
  std::atomic<std::thread::id> holder_{};  // thread inside; guards the members below
  Direction direction_ = Direction::forward;
  Reduction reduction_ = Reduction::replace;
  std::size_t stage_ = 0;
  int idle_tests_ = 0;  // since the last progress
  std::thread::id begun_by_;
  std::exception_ptr failure_;
  NodeContext* watched_;  // null: no ranks to watch
};

}  // namespace parhelion
