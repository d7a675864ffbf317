#include "parhelion/core/sparse_exchange.hpp"

#include "core/collective_step.hpp"
#include "core/orphans.hpp"

namespace parhelion {
namespace {

// Sends chunks of `largest` bytes and a shorter, maybe empty last one: MPI counts are ints.
void send(const Communicator& comm, int rank, std::span<const std::byte> bytes, int tag,
    bool synchronous, std::size_t largest, std::vector<MPI_Request>& requests) {
  const auto call = synchronous ? MPI_Issend : MPI_Isend;
  for (std::size_t first = 0; first <= bytes.size(); first += largest) {
    const int size = std::min(largest, bytes.size() - first);
    check_mpi(call(bytes.data() + first, size, MPI_BYTE, rank, tag, comm.handle(),
                  &requests.emplace_back()),
        "MPI_Isend");
  }
}

bool have_ended(std::vector<MPI_Request>& requests) {
  int done = 0;
  check_mpi(
      MPI_Testall(requests.size(), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  return done != 0;
}

// Returns the byte count.
template <class Room>
std::size_t receive_chunk(const Communicator& comm, int rank, int tag, const Room& room) {
  MPI_Message message;
  MPI_Status status;
  PatientWait patience(comm);
  for (int flag = 0; !flag; patience.wait())
    check_mpi(MPI_Improbe(rank, tag, comm.handle(), &flag, &message, &status), "MPI_Improbe");
  int size = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
  std::byte* const bytes = room(size);
#ifdef PARHELION_SIMULATED  // polling takes simulated time
  check_mpi(MPI_Mrecv(bytes, size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
#else
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Imrecv(bytes, size, MPI_BYTE, &message, &request), "MPI_Imrecv");
  for (int done = 0;; patience.wait()) {  // the sender may be lost during a long message
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) break;
  }
#endif
  return size;
}

Message receive(const Communicator& comm, int rank, int tag, std::size_t largest) {
  const auto message = std::make_shared<Message>(Message{rank, {}});
  const auto room = [&](std::size_t more) {
    const std::size_t before = message->bytes.size();
    message->bytes.resize(before + more);
    return message->bytes.data() + before;
  };
  try {
    while (receive_chunk(comm, rank, tag, room) == largest) {
    }
  } catch (...) {
    orphan(message);
    throw;
  }
  return std::move(*message);
}

// Receives messages, by `take(rank)`, until all ranks' synchronous sends are matched and the
// reduction ends (NBX: Hoefler et al., PPoPP 2010). Returns whether all prints are equal.
template <class Sent, class Take>
bool take_all(
    const Communicator& comm, int tag, std::uint64_t print, const Sent& sent, const Take& take) {
  bool agreeing = false;
  for (PatientWait patience(comm); !agreeing || !agreement_is_over(comm); patience.wait()) {
    for (int there = 1; there != 0;) {
      MPI_Status status;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &there, &status), "MPI_Iprobe");
      if (there != 0) take(status.MPI_SOURCE);
    }
    if (agreeing || !sent()) continue;
    begin_agreement(comm, print);
    agreeing = true;
  }
  return end_agreement(comm);
}

const auto in_rank_order = [](const auto& a, const auto& b) { return a.rank < b.rank; };

// Pending sends. Orphans their buffers after a failure: MPI may still read them.
class Outbox {
 public:
  Outbox(const Communicator& comm, std::vector<Message> messages, std::size_t largest)
      : comm_(comm), largest_(largest),
        messages_(std::make_shared<std::vector<Message>>(std::move(messages))) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox() {
    if (!sent_) orphan(messages_);
  }

  /// Returns messages to this rank.
  std::vector<Message> send_all(int tag, bool synchronous) {
    std::vector<Message> own;
    sent_ = false;
    for (Message& message : *messages_) {
      if (message.rank == comm_.rank()) own.push_back(std::move(message));
      else send(comm_, message.rank, message.bytes, tag, synchronous, largest_, requests_);
    }
    return own;
  }
  bool sent() { return sent_ = have_ended(requests_); }
  void await_sent() {
    for (PatientWait patience(comm_); !sent();) patience.wait();
  }

 private:
  const Communicator& comm_;
  std::size_t largest_;
  std::shared_ptr<std::vector<Message>> messages_;
  std::vector<MPI_Request> requests_;
  bool sent_ = true;
};

// An own tag separates a fast rank's next round from this one.
template <class Work>
std::vector<Message> with_own_tag(const Communicator& comm, const Work& work) {
  Tag tag = comm.next_tag();
  try {
    return work(tag);
  } catch (...) {
    tag.keep();
    throw;
  }
}

}  // namespace

void send_message(const Communicator& comm, Message message, const Tag& tag) {
  std::vector<Message> one;
  one.push_back(std::move(message));
  Outbox outbox(comm, std::move(one), largest_sent_at_once);
  outbox.send_all(tag, false);
  outbox.await_sent();
}

Message receive_message(const Communicator& comm, int rank, const Tag& tag) {
  return receive(comm, rank, tag, largest_sent_at_once);
}

std::vector<Message> sparse_exchange(
    const Communicator& comm, std::vector<Message> outgoing, std::size_t largest_message) {
  return with_own_tag(comm, [&](int tag) {
    Outbox outbox(comm, std::move(outgoing), largest_message);
    std::vector<Message> incoming = outbox.send_all(tag, true);
    take_all(
        comm, tag, 0, [&] { return outbox.sent(); },
        [&](int rank) { incoming.push_back(receive(comm, rank, tag, largest_message)); });
    std::ranges::sort(incoming, in_rank_order);
    return incoming;
  });
}

std::byte* PackedMessages::add(int rank, std::size_t bytes) {
  const std::size_t end = parts.empty() ? 0 : parts.back().first + parts.back().bytes;
  if (parts.empty() || parts.back().rank != rank) parts.push_back({rank, end, 0});
  parts.back().bytes += bytes;
  if (memory.size() < end + bytes) memory.resize(std::max(end + bytes, 2 * memory.size()));
  return memory.data() + end;
}

bool RepeatedExchange::run(std::uint64_t print, std::size_t largest_message) {
  if (tag_ == 0) tag_ = comm_.next_tag();
  under_way_ = true;
  auto& [out, in, requests] = *buffers_;
  requests.clear();
  in.parts.clear();
  for (const PackedMessages::Part& part : out.parts)
    if (part.rank != comm_.rank())
      send(comm_, part.rank, {out.memory.data() + part.first, part.bytes}, tag_, true,
          largest_message, requests);
  const bool equal = take_all(
      comm_, tag_, print, [&] { return have_ended(requests); },
      [&](int rank) {
        const auto room = [&](std::size_t bytes) { return in.add(rank, bytes); };
        while (receive_chunk(comm_, rank, tag_, room) == largest_message) {
        }
      });
  under_way_ = false;
  for (const PackedMessages::Part& part : out.parts)
    if (part.rank == comm_.rank()) in.parts.push_back(part);
  std::ranges::sort(in.parts, in_rank_order);
  return equal;
}

const std::byte* RepeatedExchange::bytes_of(const PackedMessages::Part& part) const {
  const PackedMessages& from = part.rank == comm_.rank() ? buffers_->out : buffers_->in;
  return from.memory.data() + part.first;
}

void RepeatedExchange::start_anew() {
  if (under_way_) orphan(std::exchange(buffers_, std::make_shared<Buffers>()));
  under_way_ = false;
  tag_.keep();  // another rank may have sent before it learned of the failure
  tag_ = {};
}

std::vector<Message> neighbor_exchange(const Communicator& comm,
    const std::vector<Message>& answers, const std::vector<int>& expected,
    std::size_t largest_message) {
  return with_own_tag(comm, [&](int tag) {
    Outbox outbox(comm, answers, largest_message);
    std::vector<Message> incoming;
    const std::vector<Message> own = outbox.send_all(tag, false);
    for (int rank : expected)
      incoming.push_back(
          rank == comm.rank() ? own.front() : receive(comm, rank, tag, largest_message));
    outbox.await_sent();
    return incoming;
  });
}

}  // namespace parhelion
