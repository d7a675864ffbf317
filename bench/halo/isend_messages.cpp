#include "halo/isend_messages.hpp"

namespace parhelion::bench {

IsendMessages::IsendMessages(MPI_Comm comm, Messages messages)
    : comm_(comm), messages_(std::move(messages)), send_buffers_(messages_.sends), receive_buffers_(messages_.receives),
      sends_(messages_.sends.size()), receives_(messages_.receives.size()) {}

void IsendMessages::post_receives() {
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Irecv(receive_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm_, &receives_[i]);
    }
}

void IsendMessages::pack_and_send() {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        const Message& message = messages_.sends[i];
        pack_message(message, send_buffers_[i]);
        MPI_Isend(send_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank, message.tag, comm_, &sends_[i]);
    }
}

void IsendMessages::unpack_arrivals() {
    for (std::size_t left = receives_.size(); left > 0; --left) {
        int which = 0;
        MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which, MPI_STATUS_IGNORE);
        const auto arrived = static_cast<std::size_t>(which);
        unpack_message(receive_buffers_[arrived], messages_.receives[arrived]);
    }
}

void IsendMessages::wait_for_sends() { MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE); }

}  // namespace parhelion::bench
