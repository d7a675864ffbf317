// Memory that the ranks of a node can reach, by address.
#include <map>
#include <mutex>

#include "guard.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/phl.h"

using namespace parhelion;
using namespace parhelion::c;

namespace {

struct Allocations {
    std::mutex mutex;
    std::map<void*, std::shared_ptr<std::byte>> live;
};

Allocations& allocations() {
    static auto* const all = new Allocations;  // arrays may outlive the end of main
    return *all;
}

}  // namespace

extern "C" int phl_allocate(int64_t bytes, void** memory) {
    return guarded([&] {
        require_output(memory, "memory");
        if (bytes < 0) throw Error("cannot allocate " + std::to_string(bytes) + " bytes: pass 0 or more");
        auto made = allocate_node_shared(bytes > 0 ? bytes : 1);
        *memory = made.get();
        const std::lock_guard lock(allocations().mutex);
        allocations().live[made.get()] = std::move(made);
    });
}

extern "C" int phl_release(void* memory) {
    return guarded([&] {
        const std::lock_guard lock(allocations().mutex);
        if (allocations().live.erase(memory) == 0)
            throw HandleError(
                "this memory is not from phl_allocate or was released already: release it once, by the "
                "address that phl_allocate gave");
    });
}
