// Transports that move messages: pack, send, receive, unpack. What differs is the Messenger.
#pragma once

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// One neighbor's messages in one direction; sizes never change. Zero bytes mean that nothing goes
/// that way. A message lies in a buffer, or is one piece of an array, wherever that is bound to.
struct Channel {
    int rank = 0;
    byte_count send_bytes = 0, receive_bytes = 0;
    std::byte* send = nullptr;  ///< buffer; null: the messenger's, or an array
    std::byte* receive = nullptr;
    Contiguous sent_piece = {}, received_piece = {};  ///< of an array; base −1: none
    int link =
        0;  ///< of the context's links; several channels where a message goes in pieces, in order

    bool sends_array() const { return sent_piece.base >= 0; }
    bool receives_array() const { return received_piece.base >= 0; }
    std::byte* source(Bases arrays) const {
        return sends_array() ? arrays[sent_piece.base] + sent_piece.offset : send;
    }
    std::byte* target(Bases arrays) const {
        return receives_array() ? arrays[received_piece.base] + received_piece.offset : receive;
    }
};

/// Moves full buffers, in one direction.
class Messenger {
public:
    virtual ~Messenger() = default;
    virtual void start_receives() = 0;
    /// The send buffer of the channel is full.
    virtual void start_send(int channel) = 0;
    /// All sends have started. Messengers that send everything at once do it here.
    virtual void flush() {}
    /// A channel whose receive buffer has become full, or −1.
    virtual int test_receive() = 0;
    /// Whether all send buffers may be used again.
    virtual bool test_sends() = 0;

    /// Before the messenger goes: ends what is under way, if the exchange was given up. False where
    /// the buffers may still be used.
    virtual bool settle() { return true; }

    /// Whether this exchange cannot end because the neighbor has not read enough of the channel,
    /// for an error.
    virtual bool unread(int /*channel*/) const { return false; }
    /// What is known about the neighbor, for an error; empty when nothing is.
    virtual std::string state(int /*channel*/) const { return {}; }

    /// Of a messenger that brings its own; it may change from exchange to exchange.
    virtual std::byte* send_buffer(int /*channel*/) { return nullptr; }
};

enum class Buffers {
    arrays_or_private,  ///< contiguous pieces are sent and received in place, others through
                        ///< private memory
    receives_private,   ///< the same, but what is packed goes into the messenger's
    all_private         ///< nothing in place
};

struct MessageTransportOptions {
    Buffers buffers = Buffers::arrays_or_private;
    NodeContext* node = nullptr;
    bool mpi = true;      ///< polling calls MPI, where no node rings
    bool pieces = false;  ///< large forward messages to other nodes go in pieces, each by a channel
                          ///< of its own
};

using MakeMessenger =
    std::function<std::unique_ptr<Messenger>(const TransportContext&, std::vector<Channel>)>;

/// What an error says of a message that has not come.
inline std::string waiting_text(byte_count bytes, int rank, std::uint64_t number) {
    return "waiting for a message of " + std::to_string(bytes) + " bytes from rank " +
           std::to_string(rank) + " in exchange number " + std::to_string(number);
}

/// The transport around a messenger: packs and unpacks.
std::unique_ptr<Transport> make_message_transport(const TransportContext& context,
                                                  const MakeMessenger& make,
                                                  MessageTransportOptions options = {});

}  // namespace parhelion
