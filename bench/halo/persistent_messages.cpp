#include "halo/persistent_messages.hpp"

namespace parhelion::bench {

PersistentMessages::PersistentMessages(MPI_Comm comm, Messages messages)
    : messages_(std::move(messages)), send_buffers_(messages_.sends), receive_buffers_(messages_.receives) {
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Recv_init(receive_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm, receives_.add());
    }
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
        const Message& message = messages_.sends[i];
        MPI_Send_init(send_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm, sends_.add());
    }
}

void PersistentMessages::pack_and_send() {
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
        pack_message(messages_.sends[i], send_buffers_[i]);
        sends_.start(i);
    }
}

void PersistentMessages::unpack_arrivals() {
    for (int left = receives_.size(); left > 0; --left) {
        const auto which = static_cast<std::size_t>(receives_.wait_any());
        unpack_message(receive_buffers_[which], messages_.receives[which]);
    }
}

}  // namespace parhelion::bench
