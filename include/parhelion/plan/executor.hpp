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

/// Completes when all work recorded before it has completed. 0: already complete.
struct Event {
    std::uint64_t number = 0;
};

/// In-order queue of copies in one memory space; host queues copy immediately. Not thread-safe.
/// Destroying a queue discards pending copies.
class Queue {
public:
    virtual ~Queue() = default;
    /// Runs a program that this queue's executor has compiled. Arrays and messages must live until
    /// the copy completes; the lists of bases need not. Allocates nothing on the host.
    virtual void enqueue(const Program& program, Bases src, Bases dst,
                         Reduction reduction = Reduction::replace) = 0;
    virtual Event record() = 0;
    /// Whether the event has completed. Makes progress, does not wait.
    bool is_done(Event event) { return event.number == 0 || has_passed(event.number); }
    /// Orders later copies here after the work now on the other queue.
    virtual void follow(Queue& other) { other.wait(); }
    /// Orders later copies here after all work that the application has put on this device, on any
    /// stream.
    virtual void follow_program() {}
    /// Reason why no queue can follow the work now on this one; empty if one can.
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
    /// Sets `Program::compiled`. Call it once, before the program is enqueued. Afterwards the index
    /// lists live in a pool of this executor.
    virtual void compile(Program& program) = 0;
    virtual std::shared_ptr<Queue> make_queue() = 0;
    /// Allocates cache-line-aligned message memory that both this executor and the host can access.
    /// Throws std::bad_alloc.
    virtual std::shared_ptr<std::byte> allocate(byte_count bytes) = 0;
    /// Name of the copy implementation, for messages.
    virtual std::string description() const { return copy_kernels_name(); }
    /// Whether its copies can access host memory that it has not allocated.
    virtual bool reaches_host() const { return true; }
    /// Reason why it does not support this reduction; empty if it does.
    virtual std::string refusal(Reduction) const { return {}; }
    /// Whether enqueue completes the copy, so that events need no polling.
    virtual bool is_immediate() const { return false; }
    /// Number of threads that share a copy.
    virtual int threads() const { return 1; }
};

/// Uses executors from `make` for plans of fields in this memory; null restores the library's own.
/// Local, but every rank must register the same.
void register_executor(MemorySpace space, std::function<std::shared_ptr<Executor>()> make);

/// Returns an executor for the device that owns `array`; null: an executor that runs no copies.
/// Throws Error if no executor supports this memory.
std::shared_ptr<Executor> make_executor(MemorySpace space, int threads = 1,
                                        const std::byte* array = nullptr);

/// Returns a queue that stands for a CUDA stream (CUstream or cudaStream_t; null: the default
/// stream of the current context), for `begin` and `end` of exchanges. The caller keeps the stream,
/// which must outlive the queue. Local. Throws Error without a driver or context.
///
///     const auto queue = queue_of_stream(stream);
///     exchange(*queue, view(domain, u));
std::shared_ptr<Queue> queue_of_stream(void* stream);

/// A program cut into the minimal number of consecutive levels: no op of a level reads or writes
/// bytes that another op of that level writes, so a level's copies may run in any order.
struct Levels {
    std::vector<Program> levels;
    std::deque<std::vector<local_index>>
        lists;  ///< of programs whose lists name a destination twice
};
/// Local. The result may refer to the index lists of `program`.
Levels levels_of(const Program& program);

}  // namespace parhelion
