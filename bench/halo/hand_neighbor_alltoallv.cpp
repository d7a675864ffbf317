#include "halo/baselines.hpp"

#include "errors.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

/// Counts and displacements in bytes; one spare entry, so that data() is valid without neighbors.
struct Layout {
    std::vector<int> counts, offsets;
    Layout(const std::vector<Message>& messages, const MessageBuffers& buffers) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            counts.push_back(static_cast<int>(messages[i].bytes));
            offsets.push_back(static_cast<int>(buffers.offset(i)));
        }
        counts.push_back(0);
        offsets.push_back(0);
    }
};

/// What both ways share: buffers, layout, neighborhood.
class Packed {
public:
    Packed(const HaloSetup& setup, Messages plan)
        : messages(std::move(plan)), send_buffers(messages.sends),
          receive_buffers(messages.receives), sent(messages.sends, send_buffers),
          received(messages.receives, receive_buffers),
          neighborhood(setup.comm, ranks_of(messages.receives), ranks_of(messages.sends)) {}

    void pack_all() {
        for (std::size_t i = 0; i < messages.sends.size(); ++i)
            pack_message(messages.sends[i], send_buffers[i]);
    }
    void unpack_all() {
        for (std::size_t i = 0; i < messages.receives.size(); ++i)
            unpack_message(receive_buffers[i], messages.receives[i]);
    }

    Messages messages;
    MessageBuffers send_buffers, receive_buffers;
    Layout sent, received;
    Neighborhood neighborhood;
};

/// Start makes the collective active and returns its request.
template <class Start>
class HandNeighborAlltoallv : public HandHalo {
public:
    HandNeighborAlltoallv(const HaloSetup& setup, Messages plan)
        : HandHalo(setup), packed_(setup, std::move(plan)), start_(packed_) {}

    void begin() override {
        packed_.pack_all();
        request_ = start_();
        copy_local(packed_.messages.local);
    }
    void end() override {
        MPI_Wait(request_, MPI_STATUS_IGNORE);
        packed_.unpack_all();
    }

    Traffic traffic() const override { return traffic_of(packed_.messages.sends); }

private:
    Packed packed_;
    Start start_;
    MPI_Request* request_ = nullptr;
};

class StartAnew {
public:
    explicit StartAnew(Packed& packed) : p_(packed) {}
    MPI_Request* operator()() {
        MPI_Ineighbor_alltoallv(p_.send_buffers.start(), p_.sent.counts.data(),
                                p_.sent.offsets.data(), MPI_BYTE, p_.receive_buffers.start(),
                                p_.received.counts.data(), p_.received.offsets.data(), MPI_BYTE,
                                p_.neighborhood.get(), &request_);
        return &request_;
    }

private:
    Packed& p_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

// Open MPI 5 has them, and says that it is MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PARHELION_HAS_PERSISTENT_COLLECTIVES
// A library that is built for an ABI meets MPIs of that ABI that lack it: null then, which is asked
// before it is called.
#pragma weak MPI_Neighbor_alltoallv_init
class StartPersistent {
public:
    explicit StartPersistent(Packed& p) {
        MPI_Neighbor_alltoallv_init(p.send_buffers.start(), p.sent.counts.data(),
                                    p.sent.offsets.data(), MPI_BYTE, p.receive_buffers.start(),
                                    p.received.counts.data(), p.received.offsets.data(), MPI_BYTE,
                                    p.neighborhood.get(), MPI_INFO_NULL, &request_);
    }
    ~StartPersistent() { MPI_Request_free(&request_); }
    StartPersistent(const StartPersistent&) = delete;
    StartPersistent& operator=(const StartPersistent&) = delete;
    MPI_Request* operator()() {
        MPI_Start(&request_);
        return &request_;
    }

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

}  // namespace

ContenderPointer make_hand_neighbor_alltoallv(const HaloSetup& setup, SetupTimes& times) {
    return make_of_messages<HandNeighborAlltoallv<StartAnew>>(setup, times);
}

ContenderPointer make_hand_neighbor_alltoallv_init(const HaloSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
    if (MPI_Neighbor_alltoallv_init != nullptr)
        return make_of_messages<HandNeighborAlltoallv<StartPersistent>>(setup, times);
#endif
    static_cast<void>(setup), static_cast<void>(times);
    throw CannotRun("this MPI is older than MPI 4, which brought persistent collectives");
}

}  // namespace parhelion::bench
