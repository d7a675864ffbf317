#include "halo/typed_messages.hpp"

#include "halo/message_types.hpp"

namespace parhelion::bench {

TypedMessages::TypedMessages(MPI_Comm comm, Messages messages) : messages_(std::move(messages)) {
    add_message_types(messages_.sends, send_types_);
    add_message_types(messages_.receives, receive_types_);
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Recv_init(MPI_BOTTOM, 1, receive_types_[i], message.rank, message.tag, comm, receives_.add());
    }
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
        const Message& message = messages_.sends[i];
        MPI_Send_init(MPI_BOTTOM, 1, send_types_[i], message.rank, message.tag, comm, sends_.add());
    }
}

}  // namespace parhelion::bench
