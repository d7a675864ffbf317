#include "halo/message_kinds.hpp"

namespace parhelion::bench {

IsendMessages::IsendMessages(MPI_Comm comm, Messages messages)
    : comm_(comm), messages_(std::move(messages)), send_buffers_(messages_.sends),
      receive_buffers_(messages_.receives), sends_(messages_.sends.size()),
      receives_(messages_.receives.size()) {}

void IsendMessages::post_receives() {
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Irecv(receive_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank,
                  message.tag, comm_, &receives_[i]);
    }
}

void IsendMessages::pack_and_send() {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        const Message& message = messages_.sends[i];
        pack_message(message, send_buffers_[i]);
        MPI_Isend(send_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank,
                  message.tag, comm_, &sends_[i]);
    }
}

void IsendMessages::unpack_arrivals() {
    for (std::size_t left = receives_.size(); left > 0; --left) {
        int which = 0;
        MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which,
                    MPI_STATUS_IGNORE);
        const auto arrived = static_cast<std::size_t>(which);
        unpack_message(receive_buffers_[arrived], messages_.receives[arrived]);
    }
}

void IsendMessages::wait_for_sends() {
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

PersistentMessages::PersistentMessages(MPI_Comm comm, Messages messages)
    : messages_(std::move(messages)), send_buffers_(messages_.sends),
      receive_buffers_(messages_.receives) {
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Recv_init(receive_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank,
                      message.tag, comm, receives_.add());
    }
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
        const Message& message = messages_.sends[i];
        MPI_Send_init(send_buffers_[i], static_cast<int>(message.bytes), MPI_BYTE, message.rank,
                      message.tag, comm, sends_.add());
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

namespace {

// A vector over each level of strides, outward; replaces `type`.
void repeat(MPI_Datatype& type, std::ptrdiff_t count, std::ptrdiff_t stride) {
    if (count == 1) return;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(count), 1, stride, type, &outer);
    MPI_Type_free(&type);
    type = outer;
}

MPI_Datatype region_type(const Region& region) {
    MPI_Datatype type = contiguous_bytes(region.run_bytes);
    for (std::size_t level = 0; level < 3; ++level)
        repeat(type, region.count[level], region.stride[level]);
    return type;
}

}  // namespace

MPI_Datatype message_type(const Message& message) {
    std::vector<MPI_Datatype> parts;
    std::vector<MPI_Aint> addresses;
    for (const Region& region : message.regions) {
        parts.push_back(region_type(region));
        MPI_Get_address(region.start, &addresses.emplace_back());
    }
    const std::vector<int> ones(parts.size(), 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), addresses.data(),
                           parts.data(), &type);
    for (MPI_Datatype& part : parts) MPI_Type_free(&part);
    return type;
}

TypedMessages::TypedMessages(MPI_Comm comm, Messages messages) : messages_(std::move(messages)) {
    add_message_types(messages_.sends, send_types_);
    add_message_types(messages_.receives, receive_types_);
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
        const Message& message = messages_.receives[i];
        MPI_Recv_init(MPI_BOTTOM, 1, receive_types_[i], message.rank, message.tag, comm,
                      receives_.add());
    }
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
        const Message& message = messages_.sends[i];
        MPI_Send_init(MPI_BOTTOM, 1, send_types_[i], message.rank, message.tag, comm, sends_.add());
    }
}

}  // namespace parhelion::bench
