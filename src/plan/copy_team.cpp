#include "plan/copy_team.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parhelion {
namespace {

constexpr int polls_before_sleep = 2000;  // about 50 µs
constexpr int polls_before_yield = 200;   // lets other threads run if they outnumber cores

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

CopyTeam::CopyTeam(int size) {
  try {
    for (int k = 1; k < size; ++k) threads_.emplace_back([this, k] { serve(k); });
  } catch (...) {
    dismiss();
    throw;
  }
}

CopyTeam::~CopyTeam() { dismiss(); }

void CopyTeam::dismiss() {
  stop_.store(true);
  start();
  for (std::thread& thread : threads_) thread.join();
}

// A member about to sleep sees the new number, or is counted as a sleeper here: both accesses are
// sequentially consistent.
void CopyTeam::start() {
  left_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  {
    const std::lock_guard lock(mutex_);
  }  // a member that read the old number sleeps by now
  wake_.notify_all();
}

void CopyTeam::finish() {
  for (int polls = 0; left_.load(std::memory_order_acquire) > 0; ++polls)
    if (polls < polls_before_yield) relax();
    else std::this_thread::yield();
}

// False if the team stops.
bool CopyTeam::next_job(std::uint64_t seen) {
  const auto there = [&] { return job_.load(std::memory_order_seq_cst) != seen; };
  for (int polls = 0; polls < polls_before_sleep && !there(); ++polls) relax();
  if (!there()) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, there);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return !stop_.load();
}

void CopyTeam::serve(int k) {
  for (std::uint64_t seen = 0; next_job(seen); ++seen) {
    call_(what_, k);
    left_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace parhelion
