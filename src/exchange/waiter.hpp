// How a rank waits for its neighbors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/time_limit.hpp"

namespace parhelion {

class NodeContext;

/// Polls first; then yields the core between polls (MPI must keep polling) or sleeps until a rank
/// on the node rings. Long waits advance other exchanges and detect dead neighbors.
class Waiter {
 public:
  /// `node`: ranks to watch, null when there are none. `sleeps`: a rank there rings. `also_mpi`:
  /// MPI needs polling too.
  Waiter(NodeContext* node, bool sleeps, bool also_mpi, double timeout_s);
  ~Waiter() { disarm(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Call when a poll found nothing, then poll again. `what` describes the wait in errors. Throws
  /// Error after the time limit, LostRank when a neighbor on the node is gone.
  template <class What>
  void pause(What&& what) {
    if (++polls_ < eager_polls_) return relax();
    pause_slowly(what);
  }
  /// Call when something moved: restarts the time limit.
  void reset() {
    disarm();
    waited_.reset();
    polls_ = 0;
    suspect_ = -1;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static void relax();
  void pause_slowly(const std::function<std::string()>& what);
  void watch(const std::function<std::string()>& what);
  void look_for_lost(const std::function<std::string()>& what);
  void sleep();
  void disarm();

  NodeContext* node_;
  bool sleeps_, also_mpi_;
  double timeout_s_;
  int eager_polls_;
  std::int64_t polls_ = 0;
  int suspect_ = -1;  // the rank that had ended at the last look
  bool armed_ = false;
  std::uint32_t doorbell_ = 0;
  std::optional<WaitTime> waited_;
  Clock::time_point watched_{};
};

}  // namespace parhelion
