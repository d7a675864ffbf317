// Node-shared memory for ranks in one process: plain memory, identified by its address. No rank
// dies alone; waiting ranks poll after some simulated time.
//
// Replaces core/node_memory.cpp, core/node_pool.cpp, and in transport/node peer_memory.cpp,
// signals.cpp, node_context.cpp.
#include <mpi.h>
#include <simgrid/actor.h>

#include <cstdio>
#include <new>
#include <string>

#include "transport/node/node_context.hpp"

double between_polls_s = 1e-4;  // SMPI's default, good for the set-up

extern "C" int sched_yield() noexcept(false) {  // waiting ranks call it
  sg_actor_sleep_for(between_polls_s);
  return 0;
}

// SMPI takes a host for a node, but here a host is a core, n<node>.<core>. Any other host is a
// node.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int, int key, MPI_Info, MPI_Comm* shared) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0, node = 0;
  MPI_Get_processor_name(name, &length);
  if (std::sscanf(name, "n%d.", &node) != 1) MPI_Comm_rank(comm, &node);
  return MPI_Comm_split(comm, node, key, shared);
}

namespace parhelion {

std::shared_ptr<std::byte> allocate_node_shared(byte_count bytes) {
  return std::shared_ptr<std::byte>(
      new std::byte[static_cast<std::size_t>(bytes)](), std::default_delete<std::byte[]>());
}
std::optional<SharedPlace> find_node_shared(const void*) { return {}; }
std::uint64_t node_shared_returns() { return 0; }

void* detail::pool_allocate(std::size_t bytes, std::size_t) {
  return ::operator new(bytes);
}  // default alignment suffices here
void detail::pool_deallocate(void* pointer, std::size_t, std::size_t) noexcept {
  ::operator delete(pointer);
}

RemotePlace describe_place(const void* address) {
  return {0, 0, 0, 0, reinterpret_cast<std::int64_t>(address)};
}
void put_place(Words& words, const RemotePlace& place) { words.push_back(place.offset); }
RemotePlace get_place(WordReader& words) { return {0, 0, 0, 0, words.next()}; }
std::shared_ptr<std::byte> map_place(const RemotePlace& place) {
  return {std::shared_ptr<std::byte>(), reinterpret_cast<std::byte*>(place.offset)};
}

void ring(Mailbox&) {}
void post(std::atomic<std::uint64_t>& number, std::uint64_t value, Mailbox&) {
  number.store(value, std::memory_order_release);
}
void announce_sleep(Mailbox&) {}
void sleep_at(Mailbox&, std::uint32_t, long) { sched_yield(); }

NodeNeighbor::NodeNeighbor(int rank_, std::int64_t, std::shared_ptr<Mailbox> mailbox_)
    : rank(rank_), mailbox(std::move(mailbox_)) {}
NodeNeighbor::~NodeNeighbor() = default;

NodeContext::NodeContext(const Communicator& comm)
    : comm_(comm.handle()), rank_(comm.rank()), size_(comm.size()),
      mailbox_(std::make_shared<Mailbox>()) {}
NodeNeighbor& NodeContext::meet(int rank, const RemotePlace& mailbox) {
  auto& known = neighbors_[rank];
  const std::shared_ptr<std::byte> place = map_place(mailbox);
  if (!known)
    known = std::make_unique<NodeNeighbor>(
        rank, 0, std::shared_ptr<Mailbox>(place, reinterpret_cast<Mailbox*>(place.get())));
  return *known;
}
void NodeContext::keep_mpi_going() const {}
int NodeContext::lost_rank() { return -1; }
void NodeContext::tell_lost(int) {}

Watch::Watch(const Communicator&) {}
void Watch::meet(const Plan&) const {}

}  // namespace parhelion
