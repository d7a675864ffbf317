#include <climits>

#include "alltoall/case.hpp"
#include "alltoall/ways.hpp"
#include "contenders.hpp"
#include "errors.hpp"
#include "planted_fault.hpp"

#if MPI_VERSION >= 4
#define PARHELION_HAS_ALLTOALL_INIT
// A library that is built for an ABI meets MPIs of that ABI that lack it: null then, which is asked
// before it is called.
#pragma weak MPI_Alltoall_init
#endif

namespace parhelion::bench {

namespace {

class MpiAlltoall : public OnBuffers {
public:
    using OnBuffers::OnBuffers;
    void exchange() override {
        MPI_Alltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm());
    }
};

class MpiIalltoall : public OnBuffers {
public:
    using OnBuffers::OnBuffers;
    void exchange() override {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ialltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(), &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
};

#ifdef PARHELION_HAS_ALLTOALL_INIT
class MpiAlltoallInit : public OnBuffers {
public:
    explicit MpiAlltoallInit(const AlltoallSetup& setup) : OnBuffers(setup) {
        MPI_Alltoall_init(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(),
                          MPI_INFO_NULL, &request_);
    }
    ~MpiAlltoallInit() override { MPI_Request_free(&request_); }
    MpiAlltoallInit(const MpiAlltoallInit&) = delete;
    MpiAlltoallInit& operator=(const MpiAlltoallInit&) = delete;
    void exchange() override {
        MPI_Start(&request_);
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

class MpiAlltoallv : public OnBuffers {
public:
    explicit MpiAlltoallv(const AlltoallSetup& setup)
        : OnBuffers(setup), counts_(static_cast<std::size_t>(ranks()), count()) {
        for (int other = 0; other < ranks(); ++other) offsets_.push_back(other * count());
    }
    void exchange() override {
        MPI_Alltoallv(send(0), counts_.data(), offsets_.data(), MPI_BYTE, receive(0),
                      counts_.data(), offsets_.data(), MPI_BYTE, comm());
    }

private:
    std::vector<int> counts_, offsets_;
};

/// One partner after the other: in step i rank r sends to r + i and receives from r - i, or both
/// with r xor i where the ranks are a power of two (Thakur, Rabenseifner & Gropp, IJHPCA 2005,
/// section 4.4).
class Pairwise : public OnBuffers {
public:
    using OnBuffers::OnBuffers;

    void exchange() override {
        std::memcpy(receive(rank()), send(rank()), block_bytes());
        const bool power_of_two = (ranks() & (ranks() - 1)) == 0;
        for (int step = 1; step < ranks(); ++step) {
            if (power_of_two) exchange_with(rank() ^ step, rank() ^ step);
            else exchange_with((rank() + step) % ranks(), (rank() - step + ranks()) % ranks());
        }
    }

private:
    static constexpr int tag = 41;
    void exchange_with(int to, int from) {
        MPI_Sendrecv(send(to), count(), MPI_BYTE, to, tag, receive(from), count(), MPI_BYTE, from,
                     tag, comm(), MPI_STATUS_IGNORE);
    }
};

ContenderPointer make_mpi_alltoall_init(const AlltoallSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_ALLTOALL_INIT
    if (MPI_Alltoall_init != nullptr) return make_way<MpiAlltoallInit>(setup, times);
#endif
    static_cast<void>(setup), static_cast<void>(times);
    throw CannotRun("this MPI is older than MPI 4, which brought persistent collectives");
}

ContenderPointer make_mpi_alltoallv(const AlltoallSetup& setup, SetupTimes& times) {
    const auto bytes = static_cast<double>(setup.buffers->ranks()) *
                       static_cast<double>(setup.buffers->block_bytes());
    if (bytes > INT_MAX)
        throw CannotRun(
            "MPI_Alltoallv counts offsets in 31 bits, and the blocks together are larger");
    return make_way<MpiAlltoallv>(setup, times);
}

ContenderPointer make_planted_fault(const AlltoallSetup& setup, SetupTimes& times) {
    auto right = make_way<Pairwise>(setup, times);
    return std::make_unique<PlantedFault>(
        std::move(right), is_last_rank(setup.comm) ? setup.buffers->receive(0) : nullptr);
}

// The baseline is what everybody calls. Other calls of MPI are its peers; the rest is written here.
constexpr Named<AlltoallSetup> ways[] = {
    {"mpi_alltoall", "baseline", make_way<MpiAlltoall>},
    {"mpi_alltoall_init", "peer", make_mpi_alltoall_init},
    {"mpi_ialltoall", "peer", make_way<MpiIalltoall>},
    {"mpi_alltoallv", "peer", make_mpi_alltoallv},
    {"pairwise", "own", make_way<Pairwise>},
    {"bruck", "own", make_bruck},
    {"node_aware", "own", make_node_aware},
    {"planted_fault", "baseline", make_planted_fault, true},
};

}  // namespace

std::vector<Entry> alltoall_contenders(const AlltoallSetup& setup) {
    std::vector<Entry> entries;
    add_entries(entries, ways, setup);
    return entries;
}

}  // namespace parhelion::bench
