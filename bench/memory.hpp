#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion::bench {

class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* block(int index) const = 0;
  /// Number of overwritten guard bytes around the blocks; 0 without guards.
  virtual std::int64_t count_damaged_guards() const { return 0; }
};

class PrivateMemory : public Memory {
 public:
  PrivateMemory(int blocks, std::size_t bytes);
  std::byte* block(int index) const override;
  std::int64_t count_damaged_guards() const override;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

class NodeSharedMemory : public Memory {
 public:
  NodeSharedMemory(int blocks, std::size_t bytes) {
    for (int i = 0; i < blocks; ++i)
      blocks_.push_back(allocate_node_shared(static_cast<byte_count>(bytes)));
  }
  std::byte* block(int index) const override {
    return blocks_[static_cast<std::size_t>(index)].get();
  }

 private:
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

template <class T>
class MadeOnce {
 public:
  template <class Make>
  std::shared_ptr<T> get(Make&& make) {
    if (!value_) value_ = make();
    return value_;
  }

 private:
  std::shared_ptr<T> value_;
};

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A sequence number in shared memory, on its own cache line.
struct alignas(64) Flag {
  std::atomic<std::uint32_t> value{0};
  static_assert(
      std::atomic<std::uint32_t>::is_always_lock_free, "the flag is shared between processes");

  // `crowded` ranks sleep: if ranks outnumber cores, spinning keeps the awaited rank from
  // running.
  void post(std::uint32_t sequence, bool crowded = false) {
    value.store(sequence, std::memory_order_release);
    if (crowded) wake();
  }
  void count_one_more(bool crowded) {
    value.fetch_add(1, std::memory_order_acq_rel);
    if (crowded) wake();
  }
  void wait_for(std::uint32_t sequence, bool crowded = false) const {
    while (!reached(sequence)) crowded ? sleep_before(sequence) : pause_briefly();
  }

  /// Allows wrap-around: flags are always less than 2^31 steps apart.
  bool reached(std::uint32_t sequence) const {
    return static_cast<std::int32_t>(value.load(std::memory_order_acquire) - sequence) >= 0;
  }

 private:
  void wake();
  void sleep_before(std::uint32_t sequence) const;
};

/// Memory that all ranks of a communicator can load and store. Constructor and destructor are
/// collective.
///
/// Mapped without MPI, so that phl-bench can measure an MPI with shared memory disabled, in which
/// MPICH has no windows either. An MPI window if the kernel forbids mapping other ranks' memory.
class SharedWindow {
 public:
  /// The ranks of `comm` must be on one node.
  SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  /// Start of the memory of `rank`, aligned to a cache line.
  std::byte* of(int rank) const { return parts_[static_cast<std::size_t>(rank)].get(); }

 private:
  bool map_parts(MPI_Comm comm, std::size_t bytes);
  void make_window(MPI_Comm comm, std::size_t bytes);

  std::vector<std::shared_ptr<std::byte>> parts_;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Arrays of all ranks of a node, accessible to each, and one flag per rank.
class OpenMemory : public Memory {
 public:
  /// Collective. Throws CannotRun on every rank if the ranks are on several nodes. `bytes` per
  /// block may differ between ranks.
  OpenMemory(const Communicator& comm, int blocks, std::size_t bytes);

  std::byte* block(int index) const override { return block_of(rank_, index); }
  std::byte* block_of(int rank, int index) const;

  /// Sets this rank's flag to `step`; waits until the flag of `rank` reaches `step`.
  void post(std::uint32_t step) const;
  void wait_for(int rank, std::uint32_t step) const;

 private:
  Flag& flag_of(int rank) const { return *reinterpret_cast<Flag*>(window_.of(rank)); }

  int rank_;
  bool crowded_;                    // more ranks than cores
  std::vector<std::size_t> bytes_;  // between blocks, by rank
  SharedWindow window_;
};

/// Throws Error if `bytes`, of all ranks of a node, exceed 90 % of its memory: the allocation would
/// succeed, but the kernel would kill a process that touches the pages.
void check_node_memory(double bytes, const std::string& wants_it, const std::string& what_to_do);

}  // namespace parhelion::bench
