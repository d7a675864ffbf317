// The pool behind NodeAllocator.
#include <unistd.h>

#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>

#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

class NodeResource final : public std::pmr::memory_resource {
public:
    bool holds(const void* pointer) {
        const std::lock_guard lock(mutex_);
        auto after = held_.upper_bound(pointer);
        return after != held_.begin() && pointer < (--after)->second.end;
    }

private:
    struct Chunk {
        const void* end;
        std::shared_ptr<std::byte> memory;
    };

    // The pool asks for chunks aligned to their block size, which may be more than a page.
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        auto memory = allocate_node_shared(static_cast<byte_count>(bytes + alignment));
        void* start = memory.get();
        std::size_t space = bytes + alignment;
        std::align(alignment, bytes, start, space);
        const std::lock_guard lock(mutex_);
        held_[start] = {static_cast<std::byte*>(start) + bytes, std::move(memory)};
        return start;
    }
    void do_deallocate(void* pointer, std::size_t, std::size_t) override {
        const std::lock_guard lock(mutex_);
        held_.erase(pointer);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::mutex mutex_;
    std::map<const void*, Chunk> held_;
};

// The pool keeps its books in its own memory, which a forked process shares with its parent: it starts a pool of its own, and
// what it inherited stays the parent's.
struct Pool {
    explicit Pool(bool inherited) : after_fork(inherited) {}
    const pid_t process = getpid();
    const bool after_fork;
    NodeResource upstream;
    std::pmr::synchronized_pool_resource blocks{{256, 1 << 16}, &upstream};
};

Pool& pool() {
    static std::mutex mutex;
    static Pool* current = nullptr;  // never destroyed: containers may die during exit
    const std::lock_guard lock(mutex);
    if (current == nullptr || current->process != getpid()) current = new Pool(current != nullptr);
    return *current;
}

}  // namespace

namespace detail {

void* pool_allocate(std::size_t bytes, std::size_t alignment) { return pool().blocks.allocate(bytes, alignment); }

void pool_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) noexcept {
    Pool& own = pool();
    if (!own.after_fork || own.upstream.holds(pointer)) own.blocks.deallocate(pointer, bytes, alignment);
}

}  // namespace detail
}  // namespace parhelion
