#include "core/orphans.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {
namespace {

struct Left {
  std::shared_ptr<const void> memory;
  std::function<bool()> released;  // empty: never
};

struct All {
  std::mutex mutex;
  std::vector<Left> left;
};

All& all() {
  static auto* const instance = [] {
    when_mpi_ends(free_released);
    return new All;  // never freed: used during exit
  }();
  return *instance;
}

}  // namespace

void orphan(std::shared_ptr<const void> memory) {
  const std::lock_guard lock(all().mutex);
  all().left.push_back({std::move(memory), {}});
}

void orphan_until(std::shared_ptr<const void> memory, std::function<bool()> released) {
  free_released();
  const std::lock_guard lock(all().mutex);
  all().left.push_back({std::move(memory), std::move(released)});
}

void free_released() {
  const std::lock_guard lock(all().mutex);
  std::vector<Left>& left = all().left;
  std::erase_if(left, [](const Left& each) { return each.released && each.released(); });
  if (left.empty()) left.shrink_to_fit();
}

}  // namespace parhelion
