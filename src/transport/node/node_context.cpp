#include "transport/node/node_context.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "core/collective_step.hpp"
#include "core/resources.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {
namespace {

// Without pidfd (Linux before 5.3, no descriptors left): the state behind the name in parentheses.
bool runs_by_name(std::int64_t process) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
  // An unreadable file is inconclusive. By kill, a zombie counts as running.
  if (file == nullptr) return kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
  char line[512] = {};
  const bool told = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  if (!told) return false;
  const std::string text = line;
  const auto name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

// Serializes this context's threads, as MPI_THREAD_SERIALIZED requires.
class OneAtATime {
 public:
  explicit OneAtATime(bool waits = false)
      : lock_(mutex(), std::defer_lock), has_turn_(mpi_serves_all_threads()) {
    if (has_turn_) return;
    if (waits) lock_.lock();
    else static_cast<void>(lock_.try_lock());
    has_turn_ = lock_.owns_lock();
  }
  explicit operator bool() const { return has_turn_; }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::unique_lock<std::mutex> lock_;
  bool has_turn_;
};

// Process numbers are comparable only within one namespace.
std::int64_t process_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : 0;
}

}  // namespace

NodeNeighbor::NodeNeighbor(int rank_, std::int64_t process_, std::shared_ptr<Mailbox> mailbox_)
    : rank(rank_), process(process_),
      process_descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0))),
      mailbox(std::move(mailbox_)) {}

NodeNeighbor::~NodeNeighbor() {
  if (process_descriptor >= 0) close(process_descriptor);
}

bool NodeNeighbor::alive() const {
  pollfd ended{process_descriptor, POLLIN, 0};
  // The program may have closed the descriptor, and a low limit fails poll: neither means an end.
  const bool told =
      process_descriptor >= 0 && poll(&ended, 1, 0) >= 0 && (ended.revents & POLLNVAL) == 0;
  return told ? ended.revents == 0 : runs_by_name(process);
}

int NodeNeighbor::lost() const {
  if (const int told = mailbox ? mailbox->lost_rank.load(std::memory_order_acquire) : -1; told >= 0)
    return told;
  return alive() ? -1 : rank;
}

NodeContext::NodeContext(const Communicator& comm)
    : comm_(comm.handle()), rank_(comm.rank()), size_(comm.size()) {
  const auto memory = allocate_node_shared(sizeof(Mailbox));
  mailbox_ = {memory, new (memory.get()) Mailbox};
  CollectiveState& state = comm.collective_state();
  oversubscribed_ = comm.node().size() > processes_at_once(state.node_threads);
  state.lost = [this] { return lost_rank(); };
  state.tell_lost = [this](int rank) { tell_lost(rank); };
}

NodeNeighbor& NodeContext::meet(int rank, const RemotePlace& mailbox) {
  const std::lock_guard lock(mutex_);
  auto known = neighbors_.find(rank);
  if (known == neighbors_.end() || !known->second->mailbox) {
    auto met = std::make_unique<NodeNeighbor>(rank, mailbox.process, map_as<Mailbox>(mailbox));
    known = neighbors_.insert_or_assign(rank, std::move(met)).first;
  }
  return *known->second;
}

Words NodeContext::record() const {
  Words words{process_namespace()};
  put_place(words, mailbox_place());
  return words;
}

void NodeContext::watch(int rank, const Words& record) {
  if (record.empty()) return;
  WordReader words(record);
  const bool same_namespace = words.next() == process_namespace();
  const RemotePlace place = get_place(words);
  try {
    meet(rank, place);
  } catch (const Error&) {  // no permission, or it has already ended
    const std::lock_guard lock(mutex_);
    if (same_namespace && !neighbors_.contains(rank))
      neighbors_.emplace(rank, std::make_unique<NodeNeighbor>(rank, place.process, nullptr));
  }
}

// MPI_Iprobe progresses MPI (MPI-4.1 §2.9). Ignores errors: the wait for a lost rank reports it.
void NodeContext::keep_mpi_going() const {
  if (!mpi_serves_this_thread()) return;
  const OneAtATime turn;
  if (!turn) return;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
}

int NodeContext::lost_rank() {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, neighbor] : neighbors_)
    if (const int lost = neighbor->lost(); lost >= 0) return lost;
  listen();
  return heard_;
}

// Ignores MPI errors: with a lost rank any call may fail.
void NodeContext::listen() {
  if (heard_ >= 0 || mpi_has_ended() || !mpi_serves_this_thread()) return;
  const OneAtATime turn;
  if (!turn) return;  // a later call receives it
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  std::int64_t lost = -1;
  if (MPI_Improbe(MPI_ANY_SOURCE, Communicator::lost_rank_tag, comm_, &found, &message,
          MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      !found)
    return;
  if (MPI_Mrecv(&lost, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS) heard_ = lost;
}

void NodeContext::pass_on(int rank) {
  if (told_ >= 0 || mpi_has_ended() || !mpi_serves_this_thread()) return;
  const OneAtATime turn(true);
  told_ = rank;
  for (int step = 1; step < size_; step *= 2) {
    const int other = (rank_ + step) % size_;
    MPI_Request request = MPI_REQUEST_NULL;
    if (other != rank && MPI_Isend(&told_, 1, MPI_INT64_T, other, Communicator::lost_rank_tag,
                             comm_, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

void NodeContext::tell_lost(int rank) {
  const std::lock_guard lock(mutex_);
  mailbox_->lost_rank.store(rank, std::memory_order_release);
  for (const auto& [other, each] : neighbors_)
    if (each->mailbox) ring(*each->mailbox);
  pass_on(rank);
}

Watch::Watch(const Communicator& comm) {
  try {
    node_ = &comm.shared_state<NodeContext>();
    record_ = node_->record();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::system) throw;
  }
}

void Watch::meet(const Plan& plan) const {
  if (node_ == nullptr) return;
  for (const StagePlan& stage : plan.stages)
    for (const LinkPlan& link : stage.links)
      if (plan.communicator().node_rank(link.rank) >= 0) node_->watch(link.rank, link.record);
}

}  // namespace parhelion
