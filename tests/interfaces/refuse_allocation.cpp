// Makes one of the program's next allocations fail.
#include <cstdlib>
#include <new>

static int countdown = 0;

extern "C" void refuse_allocation(int number) { countdown = number; }

void* operator new(std::size_t bytes) {
  if (countdown > 0 && --countdown == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
