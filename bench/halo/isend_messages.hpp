#pragma once

#include <mpi.h>

#include "halo/messages.hpp"

namespace parhelion::bench {

/// Packed messages over MPI_Isend and MPI_Irecv, in the steps in which an exchange uses them.
class IsendMessages {
public:
    IsendMessages(MPI_Comm comm, Messages messages);

    void post_receives();
    /// Every message leaves as soon as it is packed.
    void pack_and_send();
    void copy_own_images() { copy_local(messages_.local); }
    /// Unpacks in the order of arrival.
    void unpack_arrivals();
    void wait_for_sends();

    Traffic traffic() const { return traffic_of(messages_.sends); }

private:
    MPI_Comm comm_;
    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    std::vector<MPI_Request> sends_, receives_;
};

}  // namespace parhelion::bench
