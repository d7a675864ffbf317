// Base of transports that pack, send, receive and unpack messages; they differ in the Messenger.
#pragma once

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// Messages of fixed sizes to and from one neighbor in one direction; 0 bytes: none. A message is
/// in a buffer, or in place in a bound array.
struct Channel {
  int rank = 0;
  byte_count send_bytes = 0, receive_bytes = 0;
  std::byte *send = nullptr, *receive = nullptr;    ///< buffers
  Contiguous sent_piece = {}, received_piece = {};  ///< in an array; base −1: none
  int link = 0;  ///< of the context's links, with one channel per chunk, in order

  bool sends_array() const { return sent_piece.base >= 0; }
  bool receives_array() const { return received_piece.base >= 0; }
  std::byte* source(Bases arrays) const {
    return sends_array() ? arrays[sent_piece.base] + sent_piece.offset : send;
  }
  std::byte* target(Bases arrays) const {
    return receives_array() ? arrays[received_piece.base] + received_piece.offset : receive;
  }
};

/// Sends and receives the channels' messages in one direction.
class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual void start_receives() = 0;
  /// Sends the channel's message, which is packed.
  virtual void start_send(int channel) = 0;
  /// Called after the last start_send; messengers that send all at once do so here.
  virtual void flush() {}
  /// A channel whose message has newly arrived, or −1.
  virtual int test_receive() = 0;
  /// Whether all send buffers are reusable.
  virtual bool test_sends() = 0;

  /// Call before destruction: completes or cancels pending operations. Returns false when buffers
  /// may still be in use.
  virtual bool settle() { return true; }
};

struct MessageTransportOptions {
  bool in_place = true;  ///< send and receive contiguous array pieces without a copy
  bool mpi = true;       ///< polling calls MPI
  bool pieces = false;   ///< split large forward messages to other nodes into channels
};

using MakeMessenger =
    std::function<std::unique_ptr<Messenger>(const TransportContext&, std::vector<Channel>)>;

/// Error text about a missing message.
inline std::string waiting_text(byte_count bytes, int rank, std::uint64_t number) {
  return "waiting for a message of " + std::to_string(bytes) + " bytes from rank " +
         std::to_string(rank) + " in exchange number " + std::to_string(number);
}

/// Marks the first slot that has come as reported, and returns its number; −1: none.
template <class Slots, class HasCome>
int report_next(Slots& slots, HasCome&& has_come) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].reported && has_come(slots[i])) {
      slots[i].reported = true;
      return static_cast<int>(i);
    }
  return -1;
}

/// Creates the transport around a messenger.
std::unique_ptr<Transport> make_message_transport(const TransportContext& context,
    const MakeMessenger& make, MessageTransportOptions options = {});

}  // namespace parhelion
