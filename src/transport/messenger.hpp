// Transports that move messages: pack, send, receive, unpack. What differs is the Messenger.
#pragma once

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// One neighbor's messages in one direction; sizes never change. Zero bytes mean that nothing goes
/// that way. A message lies in a buffer, or is one piece of an array, wherever that is bound to.
struct Channel {
    int rank = 0;
    byte_count send_bytes = 0, receive_bytes = 0;
    std::byte *send = nullptr, *receive = nullptr;    ///< buffers
    Contiguous sent_piece = {}, received_piece = {};  ///< of an array; base −1: none
    int link = 0;  ///< of the context's links; a channel for each piece, in order

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
};

struct MessageTransportOptions {
    bool in_place = true;  ///< contiguous pieces of arrays are sent and received without a copy
    bool mpi = true;       ///< polling calls MPI
    bool pieces = false;   ///< large forward messages to other nodes go in pieces, by channels of
                           ///< their own
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
