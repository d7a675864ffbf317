// Memory of simulated ranks. Thousands of ranks live in one process; their large arrays are mapped onto the same pages,
// because a simulation needs the sizes of messages, not their values. Set PARHELION_FOLD=0 to keep arrays apart, as the
// check of values does.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

// smpicxx replaces these by macros; here the real ones are meant.
#undef free

extern "C" void __libc_free(void*);
extern "C" void* __libc_memalign(std::size_t, std::size_t);

namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 42;  // addresses only
constexpr std::size_t smallest_folded = 1 << 16;

// Addresses are handed out once and never reused; what is freed is unmapped. Sizes stand in a page of their own in front.
struct Window {
    std::byte* first = nullptr;
    std::byte* next = nullptr;
    int file = -1;
    std::size_t file_bytes = 0;
};

Window window;

bool folding() {
    static const bool wanted = [] {
        const char* text = std::getenv("PARHELION_FOLD");
        return text == nullptr || std::strcmp(text, "0") != 0;
    }();
    return wanted;
}

std::size_t pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

void open_window() {
    void* memory = mmap(nullptr, window_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    window.first = window.next = static_cast<std::byte*>(memory);
    window.file = memfd_create("parhelion-folded", 0);
}

void* fold(std::size_t bytes) {
    if (window.first == nullptr) open_window();
    const std::size_t header = pages(1), size = pages(bytes);
    if (size > window.file_bytes) {
        if (ftruncate(window.file, static_cast<off_t>(size)) != 0) throw std::bad_alloc();
        window.file_bytes = size;
    }
    std::byte* start = window.next;
    window.next += header + size;
    void* note = mmap(start, header, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    void* data = mmap(start + header, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, window.file, 0);
    if (note == MAP_FAILED || data == MAP_FAILED) return nullptr;
    *static_cast<std::size_t*>(note) = size;
    return data;
}

bool folded(const void* memory) {
    const auto* address = static_cast<const std::byte*>(memory);
    return window.first != nullptr && address >= window.first && address < window.next;
}

void unfold(void* memory) {
    const std::size_t header = pages(1);
    auto* start = static_cast<std::byte*>(memory) - header;
    munmap(start, header + *reinterpret_cast<std::size_t*>(start));
}

}  // namespace

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (folding() && bytes >= smallest_folded) return fold(bytes);
    return __libc_memalign(alignment, bytes);
}

extern "C" void free(void* memory) {
    if (folded(memory)) unfold(memory);
    else __libc_free(memory);
}

// What smpicxx makes of free in the sources.
extern "C" void smpi_shared_free(void* memory) { free(memory); }
