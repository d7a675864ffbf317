#include "exchange/waiter.hpp"

#include <sched.h>

#include "core/collective_step.hpp"
#include "core/lost_rank.hpp"
#include "exchange/background.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {
namespace {

// About 50 µs when every rank has a core; when ranks share cores, polling keeps the neighbor from
// running.
#ifdef PARHELION_SIMULATED  // simulated time passes in yields and sleeps only
constexpr int polls_with_own_core = 1;
constexpr int polls_with_shared_core = 1;
#else
constexpr int polls_with_own_core = 2000;
constexpr int polls_with_shared_core = 10;
#endif
// When ranks share a core and the neighbor is almost ready, a yield is cheaper than a wake-up.
constexpr int yields_before_sleep = 8;
constexpr long longest_sleep_us = 2000;  // bounds the delay of MPI and other exchanges
constexpr long sleep_beside_mpi_us = 50;
constexpr double watch_every_s = 0.1;

}  // namespace

Waiter::Waiter(NodeContext* node, bool sleeps, bool also_mpi, double timeout_s)
    : node_(node), sleeps_(sleeps), also_mpi_(also_mpi), timeout_s_(timeout_s),
      eager_polls_(node == nullptr || node->oversubscribed() ? polls_with_shared_core
                                                             : polls_with_own_core) {}

void Waiter::relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void Waiter::pause_slowly(const std::function<std::string()>& what) {
  if (!sleeps_) {
    if (!advance_background()) sched_yield();
    if (polls_ % 256 == 0) watch(what);
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

// The first call announces the sleep, the caller polls once more, the second call sleeps.
void Waiter::sleep() {
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

void Waiter::disarm() {
  if (!armed_) return;
  node_->mailbox().sleepers.fetch_sub(1, std::memory_order_relaxed);
  armed_ = false;
}

void Waiter::watch(const std::function<std::string()>& what) {
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
    throw Error("no answer within " + seconds_text(timeout_s_) + ": " + what() +
                    "; see whether that rank still runs "
                    "and begins its exchanges in the same order (PARHELION_TIMEOUT sets the limit)",
        ErrorKind::timeout);
}

// Throws at the second look: a rank's last message may arrive just before it ends.
void Waiter::look_for_lost(const std::function<std::string()>& what) {
  const int before = std::exchange(suspect_, node_->lost_rank());
  if (suspect_ >= 0 && suspect_ == before)
    throw LostRank(suspect_, ", noticed " + what() + lost_rank_remedy);
}

}  // namespace parhelion
