// Counts memory that is asked for by new and not given back yet. MPI's own is not in it.
#undef malloc  // SMPI's headers have names of their own for these
#undef free
#undef calloc
#undef realloc
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

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
