#pragma once

#include "halo/messages.hpp"
#include "requests.hpp"

namespace parhelion::bench {

/// Packed messages over persistent requests, in the steps in which an exchange uses them.
class PersistentMessages {
public:
    PersistentMessages(MPI_Comm comm, Messages messages);

    void post_receives() { receives_.start_all(); }
    /// Every message leaves as soon as it is packed.
    void pack_and_send();
    void copy_own_images() { copy_local(messages_.local); }
    /// Unpacks in the order of arrival.
    void unpack_arrivals();
    void wait_for_sends() { sends_.wait_all(); }

    Traffic traffic() const { return traffic_of(messages_.sends); }

private:
    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    PersistentRequests receives_, sends_;
};

}  // namespace parhelion::bench
