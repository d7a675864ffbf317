// Threads of a rank that copy together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace parhelion {

/// The caller and size() − 1 threads, which inherit the creator's CPU affinity. They poll for some
/// microseconds between jobs, then sleep.
class CopyTeam {
 public:
  /// Throws std::system_error if a thread cannot be started.
  explicit CopyTeam(int size);
  ~CopyTeam();
  CopyTeam(const CopyTeam&) = delete;
  CopyTeam& operator=(const CopyTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs work(k) concurrently for 0 ≤ k < size(), until all are done. Allocates nothing. While
  /// another thread uses the team, the caller does all the work. `work` must not throw.
  template <class Work>
  void share(Work&& work) {
    if (busy_.exchange(true, std::memory_order_acquire)) {
      for (int k = 0; k < size(); ++k) work(k);
      return;
    }
    call_ = [](void* what, int k) { (*static_cast<std::remove_reference_t<Work>*>(what))(k); };
    what_ = &work;
    start();
    work(0);
    finish();
    busy_.store(false, std::memory_order_release);
  }

 private:
  void dismiss();
  void start();
  void finish();
  void serve(int k);
  bool next_job(std::uint64_t seen);

  void (*call_)(void*, int) = nullptr;  // the job: written before its number, read after it
  void* what_ = nullptr;
  std::atomic<bool> busy_{false};
  alignas(64) std::atomic<std::uint64_t> job_{0};
  alignas(64) std::atomic<int> left_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

/// Team of `size`, shared by all holders in this process; null for 1. Throws Error for a size out
/// of range, or if threads cannot start.
std::shared_ptr<CopyTeam> copy_team(int size);

}  // namespace parhelion
