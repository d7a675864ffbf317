// Memory of thousands of simulated ranks in one process.
//
// Ranks share one window for large arrays, allocated round robin: a simulation needs the sizes of
// messages, not their values. PARHELION_FOLD=0, for checks of values, disables sharing. Counts the
// live bytes of operator new, without MPI's.
#undef malloc  // SMPI's headers rename these
#undef free
#undef calloc
#undef realloc
#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" void __libc_free(void*);
extern "C" void* __libc_memalign(std::size_t, std::size_t);

namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 26;  // enough for a rank's arrays
constexpr std::size_t smallest_folded = 4096;
constexpr std::size_t alignment_in_window = 64;

std::byte* window = nullptr;
std::size_t walked = 0;

bool folding() {
  static const bool wanted = [] {
    const char* text = std::getenv("PARHELION_FOLD");
    return text == nullptr || std::strcmp(text, "0") != 0;
  }();
  return wanted;
}

std::byte* map_window() {
  void* memory = mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

void* fold(std::size_t bytes) {
  if (window == nullptr) window = map_window();
  if (walked + bytes > window_bytes) walked = 0;
  std::byte* memory = window + walked;
  walked += (bytes + alignment_in_window - 1) / alignment_in_window * alignment_in_window;
  return memory;
}

bool folded(const void* memory) {
  const auto* address = static_cast<const std::byte*>(memory);
  return window != nullptr && address >= window && address < window + window_bytes;
}

}  // namespace

void* received_into(void* buffer, std::size_t bytes) {
  return folding() && bytes >= smallest_folded && bytes <= window_bytes ? fold(bytes) : buffer;
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  const bool fits =
      alignment <= alignment_in_window && bytes >= smallest_folded && bytes <= window_bytes;
  return folding() && fits ? fold(bytes) : __libc_memalign(alignment, bytes);
}

extern "C" void free(void* memory) {
  if (!folded(memory)) __libc_free(memory);
}

// smpicxx renames free to this.
extern "C" void smpi_shared_free(void* memory) { free(memory); }

std::atomic<long> live_bytes{0};

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<long>(malloc_usable_size(memory));
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= static_cast<long>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
