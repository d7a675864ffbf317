// Memory of a test field, with canaries at both ends.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "parhelion/parhelion.hpp"
#include "support/slow_memory.hpp"

namespace test {

using namespace parhelion;

inline constexpr std::byte poison{0xA5};

/// ordinary: private, for sanitizers. node_shared: for transports within a node. elsewhere: unknown
/// to the library, but mappable by the stand-in for XPMEM. slow: of slow_memory.hpp; `data` is the
/// test's side.
enum class Memory { ordinary, node_shared, elsewhere, slow };

inline std::shared_ptr<std::byte> allocate_elsewhere(std::size_t bytes) {
  const int descriptor = memfd_create("test", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [bytes, descriptor](std::byte* start) {
            munmap(start, bytes);
            close(descriptor);
          }};
}

/// `bytes` bytes between canaries, with a copy of the expected content: one comparison detects
/// wrong ghosts, changed owned cells and writes outside of cells.
class WatchedBytes {
 public:
  WatchedBytes(byte_count bytes, Memory memory)
      : size_(static_cast<std::size_t>(bytes) + 2 * canary) {
    if (memory == Memory::node_shared)
      memory_ = allocate_node_shared(static_cast<byte_count>(size_));
    else if (memory == Memory::elsewhere) memory_ = allocate_elsewhere(size_);
    else if (memory == Memory::slow) memory_ = allocate_slow(size_);
    else
      memory_ =
          std::shared_ptr<std::byte>(new std::byte[size_], std::default_delete<std::byte[]>());
    wipe();
  }
  void wipe() { std::memset(memory_.get(), static_cast<int>(poison), size_); }
  std::byte* data() { return memory_.get() + canary; }
  const std::byte* data() const { return memory_.get() + canary; }

  /// Expects the current content.
  void expect_as_is() { expected_.assign(memory_.get(), memory_.get() + size_); }
  /// Expected byte for the address `at` within data().
  std::byte* expected(const std::byte* at) { return expected_.data() + (at - memory_.get()); }
  bool as_expected() const { return std::memcmp(memory_.get(), expected_.data(), size_) == 0; }
  bool as_expected(const std::byte* at, std::size_t bytes) const {
    return std::memcmp(at, expected_.data() + (at - memory_.get()), bytes) == 0;
  }
  /// Expects the current content of these bytes, for unspecified cells.
  void accept(const std::byte* at, std::size_t bytes) { std::memcpy(expected(at), at, bytes); }
  bool canaries_intact() const {
    return std::all_of(
               memory_.get(), memory_.get() + canary, [](std::byte b) { return b == poison; }) &&
           std::all_of(memory_.get() + size_ - canary, memory_.get() + size_,
               [](std::byte b) { return b == poison; });
  }
  std::vector<std::byte> copy() const { return {memory_.get(), memory_.get() + size_}; }
  /// Restores from the first bytes of `copy` and removes them from it.
  void restore(std::span<const std::byte>& copy) {
    std::memcpy(memory_.get(), copy.data(), size_);
    copy = copy.subspan(size_);
  }

 private:
  static constexpr std::size_t canary = 64;
  std::size_t size_;
  std::shared_ptr<std::byte> memory_;
  std::vector<std::byte> expected_;
};

}  // namespace test
