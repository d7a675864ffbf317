#include "core/orphans.hpp"

#include <mutex>
#include <new>
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

void keep(Left& each) {
  const std::lock_guard lock(all().mutex);
  std::vector<Left>& left = all().left;
  if (left.size() == left.capacity()) left.reserve(2 * left.size() + 1);
  left.push_back(std::move(each));
}

}  // namespace

void orphan(std::shared_ptr<const void> memory) noexcept {
  Left each{std::move(memory), {}};
  try {
    keep(each);
  } catch (const std::bad_alloc&) {  // keeps it by an owner that is never destroyed
    alignas(std::shared_ptr<const void>) std::byte room[sizeof each.memory];
    new (room) std::shared_ptr<const void>(std::move(each.memory));
  }
}

void orphan_until(std::shared_ptr<const void> memory, std::function<bool()> released) {
  free_released();
  Left each{std::move(memory), std::move(released)};
  keep(each);
}

void free_released() {
  const std::lock_guard lock(all().mutex);
  std::vector<Left>& left = all().left;
  std::erase_if(left, [](const Left& each) { return each.released && each.released(); });
  if (left.empty()) left.shrink_to_fit();
}

}  // namespace parhelion
