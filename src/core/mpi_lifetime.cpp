#include "parhelion/core/mpi_lifetime.hpp"

#include <pthread.h>

#include <mutex>
#include <type_traits>
#include <vector>

#include "core/launched.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

std::atomic<bool> detail::mpi_ended{false};

namespace {

std::atomic<bool> forked{false};

}  // namespace

bool is_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

void detail::complain_that_mpi_ended() {
  if (is_forked_child())
    throw Error(
        "this process was forked from a rank, and neighbors would mistake it for that rank: "
        "exchange in the parent, or start the child by spawn, without MPI",
        ErrorKind::communication);
  throw Error("MPI has ended: use parhelion before MPI_Finalize", ErrorKind::communication);
}

namespace {

struct Works {
  std::mutex mutex;
  std::vector<void (*)()> all;
};

Works& works() {
  static auto* const instance = new Works;  // never freed: MPI_Finalize may run during exit
  return *instance;
}

int note_the_end(MPI_Comm, int, void*, void*) {
  detail::mpi_ended.store(true);
  std::unique_lock lock(works().mutex);
  const std::vector<void (*)()> all = works().all;
  lock.unlock();
  for (void (*work)() : all) work();
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still works (MPI-4.1
// §11.2.4).
void watch_for_the_end() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { forked = detail::mpi_ended = true; });
    int key = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_the_end, &key, nullptr),
        "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
    MPI_Comm_free_keyval(&key);
  });
}

}  // namespace

void require_mpi() {
  if (is_forked_child()) detail::complain_that_mpi_ended();
  require_own_mpi();
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized || mpi_has_ended()) detail::complain_that_mpi_ended();
  if (!initialized)
    throw Error(
        "MPI is not running: call MPI_Init before using parhelion", ErrorKind::communication);
  watch_for_the_end();
}

// Constant once MPI runs.
static int thread_level() {
  static const int level = [] {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    return provided;
  }();
  return level;
}

bool mpi_serves_all_threads() { return thread_level() == MPI_THREAD_MULTIPLE; }

bool mpi_serves_this_thread() {
  if (thread_level() >= MPI_THREAD_SERIALIZED) return true;
  int main = 0;
  MPI_Is_thread_main(&main);
  return main != 0;
}

// The standard ABI has no MPI_Fint and converts int.
#ifndef PARHELION_STANDARD_ABI
static_assert(std::is_same_v<MPI_Fint, int>);
#endif

MPI_Comm comm_from_fortran(int handle) {
  require_mpi();
  return MPI_Comm_f2c(handle);
}

void when_mpi_ends(void (*work)()) {
  const std::lock_guard lock(works().mutex);
  works().all.push_back(work);
}

}  // namespace parhelion
