#include "parhelion/core/sparse_exchange.hpp"

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>

#include "core/left_behind.hpp"
#include "core/patient_wait.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

int message_size(const Parcel& parcel) {
    if (parcel.bytes.size() > INT_MAX)
        throw Error("a set-up message of more than 2 GiB: use more ranks, or fewer ghosts per rank");
    return static_cast<int>(parcel.bytes.size());
}

MPI_Request send(const Communicator& comm, const Parcel& parcel, int tag, bool synchronous) {
    MPI_Request request;
    const auto call = synchronous ? MPI_Issend : MPI_Isend;
    check_mpi(call(parcel.bytes.data(), message_size(parcel), MPI_BYTE, parcel.rank, tag, comm.handle(), &request),
              "MPI_Isend");
    return request;
}

Parcel receive(const Communicator& comm, int rank, int tag) {
    MPI_Message message;
    MPI_Status status;
    PatientWait patience(comm);
    for (int flag = 0; !flag; patience.wait())
        check_mpi(MPI_Improbe(rank, tag, comm.handle(), &flag, &message, &status), "MPI_Improbe");
    int size = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    const auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(size));
#ifdef PARHELION_SIMULATED  // no rank is lost there, and polling takes simulated time
    check_mpi(MPI_Mrecv(bytes->data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
#else
    try {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Imrecv(bytes->data(), size, MPI_BYTE, &message, &request), "MPI_Imrecv");
        for (int done = 0;; patience.wait()) {  // the sender of a long one may be lost amid
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        }
    } catch (...) {
        leave_behind(bytes);  // MPI may still write it
        throw;
    }
#endif
    return {status.MPI_SOURCE, std::move(*bytes)};
}

// True when a message was there and has been taken.
bool take_one(const Communicator& comm, int tag, std::vector<Parcel>& incoming) {
    int flag = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &flag, &status), "MPI_Iprobe");
    if (flag) incoming.push_back(receive(comm, status.MPI_SOURCE, tag));
    return flag != 0;
}

// Messages under way. MPI may still read them when the exchange is given up because a rank was lost.
class Outbox {
public:
    Outbox(const Communicator& comm, std::vector<Parcel> parcels)
        : comm_(comm), parcels_(std::make_shared<std::vector<Parcel>>(std::move(parcels))) {}
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    ~Outbox() {
        if (!sent_) leave_behind(parcels_);
    }

    /// Sends all that is for others, and returns what is for this rank.
    std::vector<Parcel> send_all(int tag, bool synchronous) {
        std::vector<Parcel> own;
        sent_ = false;
        for (Parcel& parcel : *parcels_) {
            if (parcel.rank == comm_.rank()) own.push_back(std::move(parcel));
            else requests_.push_back(send(comm_, parcel, tag, synchronous));
        }
        return own;
    }
    bool sent() {
        int done = 0;
        check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
        return sent_ = done != 0;
    }

private:
    const Communicator& comm_;
    std::shared_ptr<std::vector<Parcel>> parcels_;
    std::vector<MPI_Request> requests_;
    bool sent_ = true;
};

}  // namespace

std::vector<Parcel> sparse_exchange(const Communicator& comm, std::vector<Parcel> outgoing) {
    // A tag of its own keeps a fast rank's next round apart from this one.
    const int tag = comm.next_tag();
    Outbox outbox(comm, std::move(outgoing));
    std::vector<Parcel> incoming = outbox.send_all(tag, true);
    // Synchronous sends complete when received; when everybody's have, the barrier completes and nothing is under way.
    MPI_Request barrier = MPI_REQUEST_NULL;
    PatientWait patience(comm);
    for (bool in_barrier = false;; patience.wait()) {
        while (take_one(comm, tag, incoming)) {}
        if (in_barrier) {
            int done = 0;
            check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        } else if (outbox.sent()) {
            check_mpi(MPI_Ibarrier(comm.handle(), &barrier), "MPI_Ibarrier");
            in_barrier = true;
        }
    }
    std::sort(incoming.begin(), incoming.end(), [](const Parcel& a, const Parcel& b) { return a.rank < b.rank; });
    return incoming;
}

std::vector<Parcel> neighbor_exchange(const Communicator& comm, const std::vector<Parcel>& answers,
                                      const std::vector<int>& expected) {
    const int tag = comm.next_tag();
    Outbox outbox(comm, answers);
    const std::vector<Parcel> own = outbox.send_all(tag, false);
    std::vector<Parcel> incoming;
    for (int rank : expected) incoming.push_back(rank == comm.rank() ? own.front() : receive(comm, rank, tag));
    for (PatientWait patience(comm); !outbox.sent();) patience.wait();
    return incoming;
}

}  // namespace parhelion
