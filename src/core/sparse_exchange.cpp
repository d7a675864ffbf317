#include "parhelion/core/sparse_exchange.hpp"

#include <algorithm>
#include <climits>

#include "core/cores.hpp"
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
    Patience patience;
    for (int flag = 0; !flag; patience.wait())
        check_mpi(MPI_Improbe(rank, tag, comm.handle(), &flag, &message, &status), "MPI_Improbe");
    int size = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    Parcel parcel{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(size))};
    check_mpi(MPI_Mrecv(parcel.bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    return parcel;
}

// True when a message was there and has been taken.
bool take_one(const Communicator& comm, int tag, std::vector<Parcel>& incoming) {
    int flag = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.handle(), &flag, &status), "MPI_Iprobe");
    if (flag) incoming.push_back(receive(comm, status.MPI_SOURCE, tag));
    return flag != 0;
}

}  // namespace

std::vector<Parcel> sparse_exchange(const Communicator& comm, std::vector<Parcel> outgoing) {
    // A tag of its own keeps a fast rank's next round apart from this one.
    const int tag = comm.next_tag();
    std::vector<Parcel> incoming;
    std::vector<MPI_Request> sends;
    for (auto& parcel : outgoing) {
        if (parcel.rank == comm.rank()) incoming.push_back(std::move(parcel));
        else sends.push_back(send(comm, parcel, tag, true));
    }
    // Synchronous sends complete when received; when everybody's have, the barrier completes and nothing is under way.
    MPI_Request barrier = MPI_REQUEST_NULL;
    Patience patience;
    for (bool in_barrier = false;; patience.wait()) {
        while (take_one(comm, tag, incoming)) {}
        int done = 0;
        if (in_barrier) {
            check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        } else {
            check_mpi(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
            if (!done) continue;
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
    std::vector<MPI_Request> sends;
    std::vector<Parcel> incoming;
    for (const auto& answer : answers)
        if (answer.rank != comm.rank()) sends.push_back(send(comm, answer, tag, false));
    for (int rank : expected) {
        if (rank != comm.rank()) incoming.push_back(receive(comm, rank, tag));
        else incoming.push_back(*std::find_if(answers.begin(), answers.end(),
                                              [&](const Parcel& parcel) { return parcel.rank == rank; }));
    }
    check_mpi(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return incoming;
}

}  // namespace parhelion
