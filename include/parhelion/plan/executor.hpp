// Where copies are put, and who makes them.
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

/// Stands behind what was on a queue when it was recorded. 0: that was done at once.
struct Event {
    std::uint64_t number = 0;
};

/// Copies of one memory space, made in the order in which they were put here; the host's at once.
/// Not for several threads at once. A queue that goes makes no more of them.
class Queue {
public:
    virtual ~Queue() = default;
    /// Copies, or combines, by a program that the executor of this queue has compiled: arrays and
    /// messages must stay until it is done, the lists of bases need not. Allocates nothing on the
    /// host.
    virtual void enqueue(const Program& program, Bases src, Bases dst,
                         Reduction reduction = Reduction::replace) = 0;
    virtual Event record() = 0;
    /// Gets the queue on, without waiting.
    bool is_done(Event event) { return event.number == 0 || has_passed(event.number); }
    /// What is put here from now on comes after what the other queue has now.
    virtual void follow(Queue& other) { other.wait(); }
    /// The same for all that the program has put on this memory's device, on whatever stream.
    virtual void follow_program() {}
    /// Why nothing can follow what is on it now, empty where it can.
    virtual std::string refusal() { return {}; }
    void wait() {
        for (const Event last = record(); !is_done(last);) std::this_thread::yield();
    }

private:
    virtual bool has_passed(std::uint64_t number) = 0;
};

/// Makes the copies of one plan.
class Executor {
public:
    virtual ~Executor() = default;
    /// Once, before the program is put on a queue: `Program::compiled`. Lists lie in one pool of
    /// this executor from then on.
    virtual void compile(Program& program) = 0;
    virtual std::shared_ptr<Queue> make_queue() = 0;
    /// Memory for messages, from a cache line on, that both this executor and the host reach.
    /// Throws std::bad_alloc.
    virtual std::shared_ptr<std::byte> allocate(byte_count bytes) = 0;
    /// Who copies, for people.
    virtual std::string description() const { return copy_kernels_name(); }
    /// Whether its copies reach memory of the host that it has not allocated.
    virtual bool reaches_host() const { return true; }
    /// Why it does not combine so, empty where it does.
    virtual std::string refusal(Reduction) const { return {}; }
    /// Whether all is done when it has been enqueued: nobody has to look whether an event is.
    virtual bool is_immediate() const { return false; }
    /// Threads that share a copy.
    virtual int threads() const { return 1; }
};

/// Plans of fields in this memory take what `make` gives from now on, null: the library's own
/// again; every rank registers it. Local.
void register_executor(MemorySpace space, std::function<std::shared_ptr<Executor>()> make);

/// Copies on the device that has `array`; null: it makes none. Throws Error where nothing copies in
/// this memory.
std::shared_ptr<Executor> make_executor(MemorySpace space, int threads = 1,
                                        const std::byte* array = nullptr);

/// What is on a stream of CUDA (a CUstream or cudaStream_t, which stays the caller's and must
/// outlive it; null: the default stream of the current context), for `begin` and `end` of
/// exchanges. Local. Throws Error where there is no driver or context.
///
///     const auto queue = queue_of_stream(stream);
///     exchange(*queue, view(domain, u));
std::shared_ptr<Queue> queue_of_stream(void* stream);

/// A program cut into levels, one after the other, as few as there can be for its order: nothing in
/// one reads or writes what something else there writes, so that they may be copied in any order.
struct Levels {
    std::vector<Program> levels;
    std::deque<std::vector<local_index>>
        lists;  ///< that programs use where a list names a destination twice
};
/// Local. Lists of indexes that `program` uses stay in use.
Levels levels_of(const Program& program);

}  // namespace parhelion
