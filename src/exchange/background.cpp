#include "exchange/background.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/exchange/step.hpp"

namespace parhelion {
namespace {

// Per process: exchanges on different communicators may await each other.
struct Works {
  std::mutex mutex;  // guards all and advanced; never held while work advances
  std::vector<BackgroundWork*> all;
  BackgroundWork* advanced = nullptr;
  std::atomic<bool> busy{false};
  std::thread::id only;  // if set, no other thread advances them; guarded by busy
};

Works& works() {
  static auto* instance = [] {
    when_mpi_ends(stop_progress);
    return new Works;  // never freed: exchanges may be destroyed during exit
  }();
  return *instance;
}

// The first from `at` on; moves `at` behind it.
BackgroundWork* next_under_way(std::size_t& at) {
  const std::lock_guard lock(works().mutex);
  const auto& all = works().all;
  while (at < all.size() && !all[at]->under_way()) ++at;
  return works().advanced = at < all.size() ? all[at++] : nullptr;
}

}  // namespace

void stop_progress() {
  if (is_forked_child()) return;  // a thread of the parent may have been busy
  while (works().busy.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  works().only = std::this_thread::get_id();
  works().busy.store(false, std::memory_order_release);
}

void join_background(BackgroundWork* work) {
  const std::lock_guard lock(works().mutex);
  works().all.push_back(work);
}

void leave_background(BackgroundWork* work) {
  if (is_forked_child()) return;  // a thread of the parent may hold the lock
  std::unique_lock lock(works().mutex);
  std::erase(works().all, work);
  for (; works().advanced == work; lock.lock()) {
    lock.unlock();
    std::this_thread::yield();
  }
}

bool advance_background() {
  if (works().busy.exchange(true, std::memory_order_acquire)) return false;
  bool any = false;
  std::size_t at = 0;
  const std::thread::id only = works().only;
  if (only == std::thread::id() || only == std::this_thread::get_id())
    while (BackgroundWork* const work = next_under_way(at)) any = work->advance() || any;
  works().busy.store(false, std::memory_order_release);
  return any;
}

namespace {

constexpr std::chrono::microseconds rest{200};  // one pass costs up to 20 µs

}  // namespace

ProgressThread& ProgressThread::of_process() {
  static auto* const instance = new ProgressThread;
  return *instance;
}

ProgressThread::ProgressThread() { std::thread(&ProgressThread::work, this).detach(); }

void ProgressThread::begun() {
  const std::lock_guard lock(mutex_);
  if (under_way_++ == 0) changed_.notify_all();
}

void ProgressThread::ended() {
  const std::lock_guard lock(mutex_);
  --under_way_;
}

void ProgressThread::work() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [this] { return under_way_ > 0; });
    lock.unlock();
    advance_background();
    std::this_thread::sleep_for(rest);
    lock.lock();
  }
}

}  // namespace parhelion
