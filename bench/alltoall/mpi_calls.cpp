#include <climits>

#include "alltoall/on_buffers.hpp"
#include "alltoall/ways.hpp"
#include "clock.hpp"
#include "errors.hpp"

#if MPI_VERSION >= 4
#define PARHELION_HAS_ALLTOALL_INIT
// A library that is built for an ABI meets MPIs of that ABI that lack it: null then, which is asked before it is called.
#pragma weak MPI_Alltoall_init
#endif

namespace parhelion::bench {

namespace {

template <class Way>
ContenderPointer made(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<Way>(setup); });
}

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
        MPI_Alltoall_init(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(), MPI_INFO_NULL, &request_);
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
        MPI_Alltoallv(send(0), counts_.data(), offsets_.data(), MPI_BYTE, receive(0), counts_.data(), offsets_.data(),
                      MPI_BYTE, comm());
    }

private:
    std::vector<int> counts_, offsets_;
};

}  // namespace

ContenderPointer make_mpi_alltoall(const AlltoallSetup& setup, SetupTimes& times) {
    return made<MpiAlltoall>(setup, times);
}

ContenderPointer make_mpi_ialltoall(const AlltoallSetup& setup, SetupTimes& times) {
    return made<MpiIalltoall>(setup, times);
}

ContenderPointer make_mpi_alltoall_init(const AlltoallSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_ALLTOALL_INIT
    if (MPI_Alltoall_init != nullptr) return made<MpiAlltoallInit>(setup, times);
#endif
    static_cast<void>(setup), static_cast<void>(times);
    throw CannotRun("this MPI is older than MPI 4, which brought persistent collectives");
}

ContenderPointer make_mpi_alltoallv(const AlltoallSetup& setup, SetupTimes& times) {
    const auto bytes = static_cast<double>(setup.buffers->ranks()) * static_cast<double>(setup.buffers->block_bytes());
    if (bytes > INT_MAX) throw CannotRun("MPI_Alltoallv counts offsets in 31 bits, and the blocks together are larger");
    return made<MpiAlltoallv>(setup, times);
}

}  // namespace parhelion::bench
