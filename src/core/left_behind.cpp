#include "core/left_behind.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace parhelion {

void leave_behind(std::shared_ptr<const void> memory) {
    static std::mutex mutex;
    static auto* const kept = new std::vector<std::shared_ptr<const void>>;  // outlives all that dies during exit
    const std::lock_guard lock(mutex);
    kept->push_back(std::move(memory));
}

}  // namespace parhelion
