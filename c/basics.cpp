// Errors, MPI, memory, user-defined reductions.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <new>

#include "objects.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/version.hpp"

namespace parhelion::c {
namespace {

thread_local std::string last_error;

int keep(const char* message, int status) noexcept {
  try {
    last_error = message;
  } catch (...) {  // no memory for the message
    last_error.clear();
  }
  return status;
}

}  // namespace

int report_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(error.what(), static_cast<int>(error.kind()));
  } catch (const HandleError& error) {
    return keep(error.what(), PHL_ERROR_HANDLE);
  } catch (const std::bad_alloc&) {
    return keep("out of memory: use more ranks or a smaller problem", PHL_ERROR_SYSTEM);
  } catch (const std::exception& error) {
    return keep(error.what(), PHL_ERROR_INTERNAL);
  } catch (...) {
    return keep("an exception that is not from the library", PHL_ERROR_INTERNAL);
  }
}

void require_array(const void* pointer, std::int64_t count, const char* name) {
  if (count < 0) refuse(name, " has ", count, " entries: pass 0 or more");
  if (count > 0 && pointer == nullptr)
    refuse(name, " is a null pointer: pass an array of ", count, " entries");
}

void require_output(const void* pointer, const std::string& name) {
  if (pointer == nullptr) refuse(name, " is a null pointer: pass the address of the result");
}

namespace {

// Never destroyed: arrays may outlive main.
struct Allocations {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<std::byte>> live;
};
Allocations& allocations() {
  static auto* const all = new Allocations;
  return *all;
}

// Rows at this alignment may be arrays of any type.
constexpr std::size_t alignment = alignof(std::max_align_t);

bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

class CalledReduction final : public UserReduction {
 public:
  CalledReduction(Element element, phl_combine combine, void* context)
      : UserReduction(element), combine_(combine), context_(context) {}
  bool wants_many() const override { return true; }
  void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
    const byte_count count = bytes / element().size;
    if (is_aligned(into) && is_aligned(from)) return combine_(into, from, count, context_);
    thread_local std::vector<std::byte> spare[2];  // moved out: combine_ may run an exchange
                                                   // that combines, too
    std::vector<std::byte> left = std::move(spare[0]), right = std::move(spare[1]);
    left.assign(into, into + bytes), right.assign(from, from + bytes);  // the heap is aligned
    combine_(left.data(), right.data(), count, context_);
    std::copy(left.begin(), left.end(), into);
    spare[0] = std::move(left), spare[1] = std::move(right);
  }

 private:
  phl_combine combine_;
  void* context_;
};

struct Kept {
  CalledReduction reduction;
  bool freed = false;
};

constexpr std::size_t first_own = 1000;  // far above the library's own: detects random numbers

// Never destroyed or erased: pending exchanges may use the entries.
struct Table {
  std::mutex mutex;
  std::deque<Kept> all;
};
Table& reduction_table() {
  static auto* const one = new Table;
  return *one;
}

Kept& find(int number) {
  auto& all = reduction_table().all;
  const auto slot = static_cast<std::size_t>(number) - first_own;  // huge for smaller numbers
  if (slot < all.size() && !all[slot].freed) return all[slot];
  refuse("reduction ", number,
      " does not exist: use one of enum phl_reduction, or what phl_reduction_create gave, until "
      "it is freed");
}

}  // namespace

Reduction reduction_from(int number) {
  if (number >= 0 && number < Reduction::user) return static_cast<Reduction::Kind>(number);
  const std::lock_guard lock(reduction_table().mutex);
  return find(number).reduction;
}

int make_reduction(Element element, phl_combine combine, void* context) {
  if (combine == nullptr) refuse("combine is a null pointer: pass a function");
  const std::lock_guard lock(reduction_table().mutex);
  reduction_table().all.push_back({{element, combine, context}});
  return static_cast<int>(first_own + reduction_table().all.size() - 1);
}

}  // namespace parhelion::c

using namespace parhelion;
using namespace parhelion::c;

extern "C" {

const char* phl_last_error(void) { return last_error.c_str(); }
const char* phl_version(void) { return PARHELION_VERSION; }

int phl_start(int* world) {
  return guarded([&] {
    int running = 0, ended = 0, provided = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended)
      throw Error("MPI has ended and cannot be started again: call phl_start once",
          ErrorKind::communication);
    if (!running)
      check_mpi(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    put(world, MPI_Comm_c2f(MPI_COMM_WORLD));
  });
}

int phl_stop(void) {
  return guarded([] {
    int running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running && !ended) check_mpi(MPI_Finalize(), "MPI_Finalize");
  });
}

int phl_allocate(int64_t bytes, void** memory) {
  return guarded([&] {
    require_output(memory, "memory");
    if (bytes < 0) refuse("cannot allocate ", bytes, " bytes: pass 0 or more");
    auto made = allocate_node_shared(bytes > 0 ? bytes : 1);
    *memory = made.get();
    const std::lock_guard lock(allocations().mutex);
    allocations().live[made.get()] = std::move(made);
  });
}

int phl_release(void* memory) {
  return guarded([&] {
    const std::lock_guard lock(allocations().mutex);
    if (allocations().live.erase(memory) == 0)
      throw HandleError(
          "this memory is not from phl_allocate or was released already: release it once, by "
          "the address that phl_allocate gave");
  });
}

int phl_reduction_create(phl_element element, phl_combine combine, void* context, int* reduction) {
  return guarded([&] {
    require_output(reduction, "reduction");
    *reduction = make_reduction(element_from(element), combine, context);
  });
}

int phl_reduction_free(int* reduction) {
  return guarded([&] {
    require_output(reduction, "reduction");
    const std::lock_guard lock(reduction_table().mutex);
    find(*reduction).freed = true;
    *reduction = PHL_REPLACE;
  });
}

}  // extern "C"
