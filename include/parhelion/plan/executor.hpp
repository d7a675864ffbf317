// Queues and executors: asynchronous copies, per memory space.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parhelion/plan/field.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// A point on a queue, done once all earlier work is done. 0: already done.
struct Event {
  std::uint64_t number = 0;
};

/// In-order copies in one memory space; host queues copy at once. Not thread-safe. The destructor
/// discards pending copies.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Runs a program compiled by this queue's executor. Arrays and messages, but not the lists of
  /// bases, must live until it is done. Allocates nothing on the host.
  virtual void enqueue(
      const Program& program, Bases src, Bases dst, Reduction reduction = Reduction::replace) = 0;
  virtual Event record() = 0;
  /// Whether the event is done. Makes progress, does not wait.
  bool is_done(Event event) { return event.number == 0 || has_passed(event.number); }
  /// Orders later copies here after the work now on the other queue.
  virtual void follow(Queue& other) { other.wait(); }
  /// Orders later copies here after the application's work on this device, on any stream.
  virtual void follow_program() {}
  /// Reason why no queue can follow this one now; empty if one can.
  virtual std::string refusal() { return {}; }
  void wait() {
    for (const Event last = record(); !is_done(last);) std::this_thread::yield();
  }

 private:
  virtual bool has_passed(std::uint64_t number) = 0;
};

/// Runs the copies of one plan.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Sets `Program::compiled`; once, before the program is enqueued. The executor then owns the
  /// index lists.
  virtual void compile(Program& program) = 0;
  virtual std::shared_ptr<Queue> make_queue() = 0;
  /// Message memory for this executor and the host, cache-line aligned. Throws std::bad_alloc.
  virtual std::shared_ptr<std::byte> allocate(byte_count bytes) = 0;
  /// Name of the copy implementation, for messages.
  virtual std::string description() const { return copy_kernels_name(); }
  /// Whether copies can access any host memory.
  virtual bool reaches_host() const { return true; }
  /// Reason why it does not support the reduction; empty if it does.
  virtual std::string refusal(Reduction) const { return {}; }
  /// Whether enqueue completes the copy: events need no polling.
  virtual bool is_immediate() const { return false; }
  /// Threads that share a copy.
  virtual int threads() const { return 1; }
};

/// Plans of fields in this memory use executors from `make`; null: the library's own. Local, but
/// equal on every rank.
void register_executor(MemorySpace space, std::function<std::shared_ptr<Executor>()> make);

/// Executor for the device that owns `array`; null: runs no copies. Throws Error if no executor
/// supports this memory.
std::shared_ptr<Executor> make_executor(
    MemorySpace space, int threads = 1, const std::byte* array = nullptr);

/// Queue that stands for a CUDA stream (CUstream or cudaStream_t; null: the current context's
/// default stream), for `begin` and `end` of exchanges. The caller's stream must outlive the queue.
/// Default streams are those of the context of `array`, if given. Local. Throws Error without a
/// driver or context.
///
///     const auto queue = queue_of_stream(stream);
///     exchange(*queue, view(domain, u));
std::shared_ptr<Queue> queue_of_stream(void* stream, const void* array = nullptr);

/// A program as a minimal sequence of levels: no op of a level reads or writes bytes that another
/// op of it writes, so its copies may run in any order.
struct Levels {
  std::vector<Program> levels;
  std::deque<std::vector<local_index>> lists;  ///< of programs whose lists name a destination twice
};
/// Local. The result refers to the index lists of `program`.
Levels levels_of(const Program& program);

}  // namespace parhelion
