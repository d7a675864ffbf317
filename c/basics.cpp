// Errors, handles, MPI, memory, user-defined reductions.
#include <deque>
#include <mutex>

#include "objects.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/version.hpp"

namespace parhelion::c {
namespace {
thread_local std::string last_error;
}

int report_exception() noexcept {
  Complaint told = complaint_of_exception();
  last_error = std::move(told.text);
  try {
    throw;
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  } catch (...) {
    return PHL_ERROR_INTERNAL;
  }
  return static_cast<int>(told.kind);
}

void require_output(const void* pointer, const std::string& name) {
  if (!pointer) refuse(name, " is a null pointer: pass the address of the result");
}

void require_array(const void* pointer, std::int64_t count, const char* name) {
  if (count < 0) refuse(name, " has ", count, " entries: pass 0 or more");
  if (count > 0 && !pointer)
    refuse(name, " is a null pointer: pass an array of ", count, " entries");
}

void require_dimensions(int dimensions) {
  if (dimensions < 1 || dimensions > max_dimensions)
    refuse(dimensions, " dimensions are given: use 1 to 4");
}

namespace {

// Rows may be arrays of any type.
bool is_aligned(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t) == 0;
}

class CalledReduction final : public UserReduction {
 public:
  bool freed = false;
  CalledReduction(Element element, phl_combine combine, void* context)
      : UserReduction(element), combine_(combine), context_(context) {}
  bool wants_many() const override { return true; }
  void combine(std::byte* into, const std::byte* from, byte_count bytes) const override {
    const byte_count count = bytes / element().size;
    if (is_aligned(into) && is_aligned(from)) return combine_(into, from, count, context_);
    thread_local std::vector<std::byte> left, right;  // the heap is aligned
    left.assign(into, into + bytes), right.assign(from, from + bytes);
    combine_(left.data(), right.data(), count, context_);
    std::ranges::copy(left, into);
  }

 private:
  phl_combine combine_;
  void* context_;
};

constexpr std::size_t first_own = 1000;  // far above the library's own: detects random numbers

// Never destroyed: handles and arrays may outlive main, and pending exchanges use freed reductions.
struct Made {
  std::mutex mutex;
  Objects objects;
  std::uintptr_t last_handle = std::uintptr_t{1} << 32;  // unlike other numbers
  std::map<void*, std::shared_ptr<std::byte>> arrays;
  std::deque<CalledReduction> reductions;
};
Made& made() {
  static auto* const all = new Made;
  return *all;
}
template <class Work>
auto with_made(Work&& work) {
  const std::lock_guard lock(made().mutex);
  return work(made());
}

CalledReduction& find(Made& made, int number) {
  const auto slot = static_cast<std::size_t>(number) - first_own;  // huge for smaller numbers
  if (slot < made.reductions.size() && !made.reductions[slot].freed) return made.reductions[slot];
  refuse("reduction ", number,
      " does not exist: use one of enum phl_reduction, or one of phl_reduction_create until it "
      "is freed");
}

template <class Handle>
int free_handle(Handle* handle) {
  return guarded([&] {
    require_handle(handle);
    const auto object = get(*handle);
    if constexpr (requires { object->under_way(); })
      if (object->under_way())
        refuse("this ", object->kind.name, " is under way: end it before it is freed");
    require_mpi();
    drop_object(reinterpret_cast<std::uintptr_t>(*handle));
    *handle = nullptr;
  });
}

}  // namespace

Objects new_object(std::shared_ptr<void> object, Kind kind) {
  return with_made([&](Made& made) -> Objects {
    return {{++made.last_handle << 4 | kind.number, std::move(object)}};
  });
}

std::uintptr_t keep(Objects& one) {
  const std::uintptr_t handle = one.begin()->first;
  with_made([&](Made& made) { made.objects.merge(one); });
  return handle;
}

std::shared_ptr<void> object_at(std::uintptr_t handle, Kind kind) {
  const auto refuse = [=](const char* why) {
    throw Error(concat(kind.name, " handle ", why), ErrorKind{PHL_ERROR_HANDLE});
  };
  if (handle == 0) refuse("is null: make one first");
  if ((handle & 0xf) != kind.number)
    refuse("is of another kind: pass a handle of its create function");
  return with_made([&](Made& made) {
    const auto found = made.objects.find(handle);
    if (found == made.objects.end()) refuse("was freed already: do not keep copies of it");
    return found->second;
  });
}

void drop_object(std::uintptr_t handle) {
  with_made([=](Made& made) { made.objects.erase(handle); });
}

Reduction reduction_from(int number) {
  if (number >= 0 && number < Reduction::user) return static_cast<Reduction::Kind>(number);
  return with_made([=](Made& made) -> Reduction { return find(made, number); });
}

int make_reduction(Element element, phl_combine combine, void* context) {
  if (!combine) refuse("combine is a null pointer: pass a function");
  return with_made([&](Made& made) {
    made.reductions.emplace_back(element, combine, context);
    return first_own + made.reductions.size() - 1;
  });
}

}  // namespace parhelion::c

using namespace parhelion;
using namespace parhelion::c;

extern "C" {

#define PHL_FREE(name) \
  int phl_##name##_free(phl_##name* handle) { return free_handle(handle); }
PHL_FREE(index_map)
PHL_FREE(cartesian)
PHL_FREE(exchange)
PHL_FREE(redistribution)
PHL_FREE(point_sums)
PHL_FREE(migration)

const char* phl_last_error(void) { return last_error.c_str(); }
const char* phl_version(void) { return PARHELION_VERSION; }

int phl_start(int* world) {
  return guarded([&] {
    int running = 0, provided = 0;
    MPI_Initialized(&running);
    if (!running)
      check_mpi(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    require_mpi();  // which may have ended
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
    auto array = allocate_node_shared(bytes > 0 ? bytes : 1);
    with_made([&](Made& made) { made.arrays[array.get()] = array; });
    *memory = array.get();
  });
}

int phl_release(void* memory) {
  return guarded([&] {
    if (with_made([=](Made& made) { return made.arrays.erase(memory); }) == 0)
      throw Error("this memory is not from phl_allocate, or was released already: release it once",
          ErrorKind{PHL_ERROR_HANDLE});
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
    with_made([=](Made& made) { find(made, *reduction).freed = true; });
    *reduction = PHL_REPLACE;
  });
}

}  // extern "C"
