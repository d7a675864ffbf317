#include "memory.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "launch.hpp"
#include "parhelion/core/error.hpp"
#include "transport/node/peer_memory.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

constexpr std::size_t guard_bytes = 64;  // one cache line keeps the alignment
constexpr std::byte guard_pattern{0xC5};

std::size_t round_up(std::size_t bytes) {
  return (bytes + guard_bytes - 1) / guard_bytes * guard_bytes;
}

std::int64_t count_other_than_guard(const std::byte* first) {
  return guard_bytes - std::count(first, first + guard_bytes, guard_pattern);
}

}  // namespace

void PrivateMemory::Free::operator()(std::byte* p) const { std::free(p); }

PrivateMemory::PrivateMemory(int blocks, std::size_t bytes) : bytes_(bytes) {
  for (int i = 0; i < blocks; ++i) {
    auto* whole =
        static_cast<std::byte*>(std::aligned_alloc(guard_bytes, round_up(bytes) + 2 * guard_bytes));
    if (!whole) throw std::bad_alloc();
    blocks_.emplace_back(whole);
    std::memset(whole, static_cast<int>(guard_pattern), guard_bytes);
    std::memset(whole + guard_bytes + bytes, static_cast<int>(guard_pattern), guard_bytes);
  }
}

std::byte* PrivateMemory::block(int index) const {
  return blocks_[static_cast<std::size_t>(index)].get() + guard_bytes;
}

std::int64_t PrivateMemory::count_damaged_guards() const {
  std::int64_t damaged = 0;
  for (const auto& whole : blocks_)
    damaged += count_other_than_guard(whole.get()) +
               count_other_than_guard(whole.get() + guard_bytes + bytes_);
  return damaged;
}

namespace {

// std::atomic::wait uses process-private futexes; these work between processes.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t argument) {
  syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), operation, argument, nullptr,
      nullptr, 0);
}

}  // namespace

void Flag::wake() { futex(value, FUTEX_WAKE, INT_MAX); }

void Flag::sleep_before(std::uint32_t sequence) const {
  const std::uint32_t seen = value.load(std::memory_order_acquire);
  if (static_cast<std::int32_t>(seen - sequence) < 0) futex(value, FUTEX_WAIT, seen);
}

namespace {

// Separate pages per rank, so that first touch places them near their owner.
std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  return (bytes + 2 * page - 1) / page * page;
}

std::byte* next_line(void* start) {
  constexpr std::uintptr_t line = 64;
  return reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(start) + line - 1) / line * line);
}

bool on_every_rank(MPI_Comm comm, bool here) {
  int all = here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
}

std::vector<RemotePlace> places_of_all(MPI_Comm comm, const RemotePlace& mine) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<RemotePlace> places(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine, MPI_BYTE, comm);
  return places;
}

}  // namespace

SharedWindow::SharedWindow(MPI_Comm comm, std::size_t bytes_of_mine) {
  const std::size_t bytes = whole_pages(bytes_of_mine);
  if (!map_parts(comm, bytes)) make_window(comm, bytes);
}

SharedWindow::~SharedWindow() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

bool SharedWindow::map_parts(MPI_Comm comm, std::size_t bytes) {
  std::shared_ptr<std::byte> mine;
  try {
    mine = allocate_node_shared(static_cast<byte_count>(bytes));
  } catch (const Error&) {
  }
  if (!on_every_rank(comm, mine != nullptr)) return false;
  bool mapped = true;
  try {
    for (const RemotePlace& place : places_of_all(comm, describe_place(mine.get())))
      parts_.push_back(map_place(place));
  } catch (const Error&) {
    mapped = false;
  }
  if (on_every_rank(comm, mapped)) return true;
  parts_.clear();
  return false;
}

void SharedWindow::make_window(MPI_Comm comm, std::size_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  void* mine = nullptr;
  MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, comm, &mine, &window_);
  MPI_Info_free(&info);
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int rank = 0; rank < size; ++rank) {
    MPI_Aint its_bytes = 0;
    int unit = 0;
    void* start = nullptr;
    MPI_Win_shared_query(window_, rank, &its_bytes, &unit, &start);
    parts_.push_back({std::shared_ptr<void>{}, next_line(start)});
  }
}

namespace {

// Rounds to cache lines, not pages: arrays at equal page offsets would evict each other from L1.
std::size_t block_distance(std::size_t bytes) {
  constexpr std::size_t line = 64;
  return (bytes + line - 1) / line * line + line;
}

const Communicator& whole_node(const Communicator& comm) {
  if (comm.node().size() != comm.size())
    throw CannotRun("the ranks are on several nodes: the floor copies within one");
  return comm.node();
}

std::vector<std::size_t> distances(const Communicator& comm, std::size_t bytes) {
  std::vector<std::size_t> all(static_cast<std::size_t>(comm.size()));
  const std::size_t mine = block_distance(bytes);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.handle());
  return all;
}

}  // namespace

OpenMemory::OpenMemory(const Communicator& comm, int blocks, std::size_t bytes)
    : rank_(comm.rank()), crowded_(more_ranks_than_cpus(comm.node())),
      bytes_(distances(whole_node(comm), bytes)),
      window_(comm.node().handle(),
          sizeof(Flag) + static_cast<std::size_t>(blocks) * block_distance(bytes)) {
  new (&flag_of(rank_)) Flag{};
  MPI_Barrier(comm.handle());
}

std::byte* OpenMemory::block_of(int rank, int index) const {
  return window_.of(rank) + sizeof(Flag) +
         static_cast<std::size_t>(index) * bytes_[static_cast<std::size_t>(rank)];
}

void OpenMemory::post(std::uint32_t step) const { flag_of(rank_).post(step, crowded_); }

void OpenMemory::wait_for(int rank, std::uint32_t step) const {
  flag_of(rank).wait_for(step, crowded_);
}

void check_node_memory(double bytes, const std::string& wants_it, const std::string& what_to_do) {
  constexpr double gib = 1 << 30;
  const double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 0.9 * present)
    throw Error(wants_it + " would need " + std::to_string(bytes / gib) +
                " GiB on a node, and it has " + std::to_string(present / gib) +
                " GiB: " + what_to_do);
}

}  // namespace parhelion::bench
