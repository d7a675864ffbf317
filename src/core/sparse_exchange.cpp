#include "parhelion/core/sparse_exchange.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/collective_step.hpp"
#include "core/orphans.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

// A message goes in chunks of `largest` bytes and a last one that is shorter, empty if need be:
// counts are ints.
void send(const Communicator& comm, const Message& message, int tag, bool synchronous,
          std::size_t largest, std::vector<MPI_Request>& requests) {
    const auto call = synchronous ? MPI_Issend : MPI_Isend;
    for (std::size_t first = 0; first <= message.bytes.size(); first += largest) {
        const int size = static_cast<int>(std::min(largest, message.bytes.size() - first));
        check_mpi(call(message.bytes.data() + first, size, MPI_BYTE, message.rank, tag,
                       comm.handle(), &requests.emplace_back()),
                  "MPI_Isend");
    }
}

// Appends to what has come before, and returns how much it was.
std::size_t receive_chunk(const Communicator& comm, int rank, int tag,
                          std::vector<std::byte>& all) {
    MPI_Message message;
    MPI_Status status;
    PatientWait patience(comm);
    for (int flag = 0; !flag; patience.wait())
        check_mpi(MPI_Improbe(rank, tag, comm.handle(), &flag, &message, &status), "MPI_Improbe");
    int size = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    const auto bytes = std::make_shared<std::vector<std::byte>>(std::move(all));
    const std::size_t before = bytes->size();
    bytes->resize(before + static_cast<std::size_t>(size));
#ifdef PARHELION_SIMULATED  // no rank is lost there, and polling takes simulated time
    check_mpi(MPI_Mrecv(bytes->data() + before, size, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
#else
    try {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Imrecv(bytes->data() + before, size, MPI_BYTE, &message, &request),
                  "MPI_Imrecv");
        for (int done = 0;; patience.wait()) {  // the sender of a long one may be lost amid
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        }
    } catch (...) {
        orphan(bytes);  // MPI may still write it
        throw;
    }
#endif
    all = std::move(*bytes);
    return static_cast<std::size_t>(size);
}

Message receive(const Communicator& comm, int rank, int tag, std::size_t largest) {
    Message message{rank, {}};
    while (receive_chunk(comm, rank, tag, message.bytes) == largest) {
    }
    return message;
}

// True when a message was there and has been taken.
bool take_one(const Communicator& comm, int tag, std::size_t largest,
              std::vector<Message>& incoming) {
    int flag = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &flag, &status), "MPI_Iprobe");
    if (flag) incoming.push_back(receive(comm, status.MPI_SOURCE, tag, largest));
    return flag != 0;
}

// Messages under way. MPI may still read them when the exchange is given up because a rank was
// lost.
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

    /// Sends all that is for others, and returns what is for this rank.
    std::vector<Message> send_all(int tag, bool synchronous) {
        std::vector<Message> own;
        sent_ = false;
        for (Message& message : *messages_) {
            if (message.rank == comm_.rank()) own.push_back(std::move(message));
            else send(comm_, message, tag, synchronous, largest_, requests_);
        }
        return own;
    }
    bool sent() {
        int done = 0;
        check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                              MPI_STATUSES_IGNORE),
                  "MPI_Testall");
        return sent_ = done != 0;
    }

private:
    const Communicator& comm_;
    std::size_t largest_;
    std::shared_ptr<std::vector<Message>> messages_;
    std::vector<MPI_Request> requests_;
    bool sent_ = true;
};

}  // namespace

void send_message(const Communicator& comm, Message message, const Tag& tag) {
    std::vector<Message> one;
    one.push_back(std::move(message));
    Outbox outbox(comm, std::move(one), largest_sent_at_once);
    outbox.send_all(tag, false);
    for (PatientWait patience(comm); !outbox.sent();) patience.wait();
}

Message receive_message(const Communicator& comm, int rank, const Tag& tag) {
    return receive(comm, rank, tag, largest_sent_at_once);
}

std::vector<Message> sparse_exchange(const Communicator& comm, std::vector<Message> outgoing,
                                     std::size_t largest_message) {
    Tag tag = comm.next_tag();  // keeps a fast rank's next round apart from this one
    Outbox outbox(comm, std::move(outgoing), largest_message);
    std::vector<Message> incoming;
    try {
        incoming = outbox.send_all(tag, true);
        // Synchronous sends complete when received; when everybody's have, the step completes and
        // nothing is under way.
        bool agreeing = false;
        for (PatientWait patience(comm); !agreeing || !agreement_is_over(comm); patience.wait()) {
            while (take_one(comm, tag, largest_message, incoming)) {
            }
            if (agreeing || !outbox.sent()) continue;
            begin_agreement(comm);
            agreeing = true;
        }
    } catch (...) {
        tag.keep();
        throw;
    }
    end_agreement(comm);
    std::sort(incoming.begin(), incoming.end(),
              [](const Message& a, const Message& b) { return a.rank < b.rank; });
    return incoming;
}

std::vector<Message> neighbor_exchange(const Communicator& comm,
                                       const std::vector<Message>& answers,
                                       const std::vector<int>& expected,
                                       std::size_t largest_message) {
    Tag tag = comm.next_tag();
    Outbox outbox(comm, answers, largest_message);
    std::vector<Message> incoming;
    try {
        const std::vector<Message> own = outbox.send_all(tag, false);
        for (int rank : expected)
            incoming.push_back(rank == comm.rank() ? own.front()
                                                   : receive(comm, rank, tag, largest_message));
        for (PatientWait patience(comm); !outbox.sent();) patience.wait();
    } catch (...) {
        tag.keep();
        throw;
    }
    return incoming;
}

}  // namespace parhelion
