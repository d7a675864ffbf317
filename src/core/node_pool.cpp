// NodeAllocator's memory pool.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

constexpr std::size_t line = 64, largest_block = 1 << 16, first_chunk = 1 << 16,
                      largest_chunk = 1 << 21;

// Cuts blocks from chunks; reuses freed ones by size and alignment. All sizes share chunks, as each
// costs a descriptor; large requests get their own. Bookkeeping, in ordinary memory, changes only
// after allocation succeeds: a failed request leaves the pool valid.
class Blocks {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    const Kind kind = kind_of(bytes, alignment);
    if (kind.size > largest_block) return aligned(add_chunk(kind), kind.alignment);
    Free& free = free_[kind];
    if (free.blocks.empty()) {
      free.blocks.reserve(free.all + 1);  // so deallocate cannot fail
      void* const block = cut(kind);
      ++free.all;
      return block;
    }
    void* const block = free.blocks.back();
    free.blocks.pop_back();
    return block;
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept {
    const std::lock_guard lock(mutex_);
    const Kind kind = kind_of(bytes, alignment);
    const auto chunk = chunk_of(pointer);
    if (chunk == chunks_.end()) return;  // inherited from the parent process
    if (kind.size > largest_block) chunks_.erase(chunk);
    else free_.find(kind)->second.blocks.push_back(pointer);
  }

 private:
  struct Kind {
    std::size_t size, alignment;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  struct Free {
    std::vector<void*> blocks;
    std::size_t all = 0;  // including blocks in use
  };
  struct Chunk {
    const std::byte* end;
    std::shared_ptr<std::byte> memory;
  };
  using Chunks = std::map<const void*, Chunk>;

  // Size classes of 1/8 steps: few classes, little waste.
  static Kind kind_of(std::size_t bytes, std::size_t alignment) {
    alignment = std::max(alignment, line);
    const std::size_t step = std::max(alignment, std::bit_ceil(bytes) / 8);
    return {std::max(step, (bytes + step - 1) / step * step), alignment};
  }
  static std::byte* aligned(std::byte* at, std::size_t alignment) {
    return at + (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
  }
  std::byte* add_chunk(const Kind& kind, std::size_t least = 0) {
    const std::size_t bytes = std::max(kind.size + kind.alignment, least);
    auto memory = allocate_node_shared(static_cast<byte_count>(bytes));
    std::byte* const start = memory.get();
    chunks_[start] = {start + bytes, std::move(memory)};
    return start;
  }
  void* cut(const Kind& kind) {
    std::byte* start = aligned(next_, kind.alignment);
    if (next_ == nullptr || start + kind.size > end_) {
      next_ = add_chunk(kind, chunk_size_);
      end_ = next_ + std::max(kind.size + kind.alignment, chunk_size_);
      chunk_size_ = std::min(2 * chunk_size_, largest_chunk);
      start = aligned(next_, kind.alignment);
    }
    next_ = start + kind.size;
    return start;
  }
  Chunks::iterator chunk_of(const void* pointer) {
    auto after = chunks_.upper_bound(pointer);
    return after != chunks_.begin() && pointer < (--after)->second.end ? after : chunks_.end();
  }

  std::mutex mutex_;
  Chunks chunks_;
  std::map<Kind, Free> free_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t chunk_size_ = first_chunk;
};

// A forked process starts its own pool: the parent owns inherited, shared memory.
struct Pool {
  const pid_t process = getpid();
  Blocks blocks;
};

Blocks& blocks() {
  static std::mutex mutex;
  static Pool* current = nullptr;  // never destroyed: containers may outlive main
  const std::lock_guard lock(mutex);
  if (current == nullptr || current->process != getpid()) current = new Pool;
  return current->blocks;
}

}  // namespace

namespace detail {

void* pool_allocate(std::size_t bytes, std::size_t alignment) {
  return blocks().allocate(bytes, alignment);
}

void pool_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept {
  blocks().deallocate(pointer, bytes, alignment);
}

}  // namespace detail
}  // namespace parhelion
