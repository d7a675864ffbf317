#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "core/collective_step.hpp"
#include "core/lost_rank.hpp"
#include "core/time_limit.hpp"
#include "exchange/background.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {

/// Polls; then yields the core between polls (MPI must keep polling) or sleeps until a rank on the
/// node rings. Long waits advance other exchanges and detect dead neighbors.
class Waiter {
 public:
  /// `node`: ranks to watch, or null. `sleeps`: a rank there rings. `also_mpi`: MPI needs polling
  /// too.
  Waiter(NodeContext* node, bool sleeps, bool also_mpi, double timeout_s)
      : node_(node), sleeps_(sleeps), also_mpi_(also_mpi), timeout_s_(timeout_s),
        eager_polls_(node == nullptr || node->oversubscribed() ? polls_with_shared_core
                                                               : polls_with_own_core) {}

  ~Waiter() { disarm(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// Call after an empty poll, then poll again. `what` describes the wait in errors. Throws Error
  /// after the time limit, LostRank when a neighbor on the node is gone.
  template <class What>
  void pause(What&& what) {
    if (++polls_ < eager_polls_) return relax();
    pause_slowly(what);
  }
  /// When something moved: restarts the time limit.
  void reset() {
    disarm();
    waited_.reset();
    polls_ = 0;
    suspect_ = -1;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // About 50 µs when every rank has a core; on shared cores, polling keeps the neighbor from
  // running.
#ifdef PARHELION_SIMULATED  // simulated time passes in yields and sleeps only
  static constexpr int polls_with_own_core = 1;
  static constexpr int polls_with_shared_core = 1;
#else
  static constexpr int polls_with_own_core = 2000;
  static constexpr int polls_with_shared_core = 10;
#endif
  // On a shared core, with the neighbor almost ready, a yield is cheaper than a wake-up.
  static constexpr int yields_before_sleep = 8;
  static constexpr long longest_sleep_us = 2000;  // bounds the delay of MPI and other exchanges
  static constexpr long sleep_beside_mpi_us = 50;
  static constexpr double watch_every_s = 0.1;

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void pause_slowly(const std::function<std::string()>& what) {
    if (!sleeps_) {
      if (!advance_background()) sched_yield();
      if (polls_ % 8 == 0) watch(what);
      return;
    }
    if (advance_background()) return;
    if (polls_ - eager_polls_ < yields_before_sleep) {
      sched_yield();
      return;
    }
    watch(what);
    sleep();
  }

  void watch(const std::function<std::string()>& what) {
    const auto now = Clock::now();
    if (!waited_) {
      waited_.emplace();
      watched_ = now;
    }
    waited_->look(now);
    if (std::chrono::duration<double>(now - watched_).count() >= watch_every_s) {
      watched_ = now;
      if (node_ != nullptr) look_for_lost(what);
      look_for_failed();
    }
    if (timeout_s_ > 0 && waited_->seconds() >= timeout_s_)
      throw Error(
          "no answer within " + seconds_text(timeout_s_) + ": " + what() +
              "; check whether that rank still runs "
              "and begins its exchanges in the same order (PARHELION_TIMEOUT sets the limit)",
          ErrorKind::timeout);
  }

  // Throws at the second look: a rank's last message may arrive just before it ends.
  void look_for_lost(const std::function<std::string()>& what) {
    const int before = std::exchange(suspect_, node_->lost_rank());
    if (suspect_ >= 0 && suspect_ == before)
      throw LostRank(suspect_, ", noticed " + what() + lost_rank_remedy);
  }

  // The first call announces the sleep; the second, after one more poll, sleeps.
  void sleep() {
    Mailbox& mailbox = node_->mailbox();
    if (!armed_) {
      doorbell_ = mailbox.doorbell.load(std::memory_order_acquire);
      announce_sleep(mailbox);
      armed_ = true;
      node_->keep_mpi_going();
      return;
    }
    sleep_at(mailbox, doorbell_, also_mpi_ ? sleep_beside_mpi_us : longest_sleep_us);
    disarm();
  }

  void disarm() {
    if (!armed_) return;
    node_->mailbox().sleepers.fetch_sub(1, std::memory_order_relaxed);
    armed_ = false;
  }

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
