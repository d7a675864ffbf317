#pragma once

#include "datatypes.hpp"
#include "halo/messages.hpp"
#include "requests.hpp"

namespace parhelion::bench {

/// Messages that a datatype describes where they lie, over persistent requests: the MPI library packs and unpacks.
class TypedMessages {
public:
    TypedMessages(MPI_Comm comm, Messages messages);

    void post_receives() { receives_.start_all(); }
    void pack_and_send() { sends_.start_all(); }
    void copy_own_images() { copy_local(messages_.local); }
    void unpack_arrivals() { receives_.wait_all(); }
    void wait_for_sends() { sends_.wait_all(); }

    Traffic traffic() const { return traffic_of(messages_.sends); }

private:
    Messages messages_;
    Datatypes send_types_, receive_types_;
    PersistentRequests receives_, sends_;
};

}  // namespace parhelion::bench
