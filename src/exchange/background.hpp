#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace parhelion {

/// An exchange that waiting threads advance: ranks may end exchanges in different orders without
/// deadlock.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  /// Progresses without waiting; never throws. Returns whether something moved. Any thread calls
  /// it, without a lock: it may run the program's reduction.
  virtual bool advance() = 0;

  bool under_way() const { return under_way_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<bool> under_way_{false};
};

/// Local: from now on, any waiting thread may advance the work.
void join_background(BackgroundWork* work);
/// Unregisters work that is not under way. Waits only for a thread that is selecting work.
void leave_background(BackgroundWork* work);

/// Advances all registered work unless another thread does. Returns whether something moved.
bool advance_background();

/// One thread per process, created on first use. While an exchange that uses it is under way, it
/// advances all thousands of times a second; else it sleeps. It never ends: joining could deadlock
/// on a lock that the program's reduction needs.
class ProgressThread {
 public:
  static ProgressThread& of_process();

  void begun();
  void ended();

 private:
  ProgressThread();
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  int under_way_ = 0;
};

}  // namespace parhelion
