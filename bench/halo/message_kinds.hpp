#pragma once

#include "datatypes.hpp"
#include "halo/messages.hpp"
#include "requests.hpp"

// The kinds of messages between which contenders differ; steps.hpp has the order in which they are
// used.

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

/// A datatype of all regions of a message at their absolute addresses, for use with MPI_BOTTOM. The
/// caller commits and frees it.
MPI_Datatype message_type(const Message& message);

inline void add_message_types(const std::vector<Message>& messages, Datatypes& types) {
    for (const Message& message : messages) types.add(message_type(message));
}

/// Messages that a datatype describes where they lie, over persistent requests: the MPI library
/// packs and unpacks.
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
