// Base of transports that pack, send, receive and unpack messages by a Messenger.
#pragma once

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// A message of fixed size: in a buffer, or in place in a bound array.
struct MessagePlace {
  byte_count bytes = 0;  ///< 0: no message
  std::byte* buffer = nullptr;
  Contiguous piece = {};  ///< in an array; base −1: none

  bool in_array() const { return piece.base >= 0; }
  std::byte* in(Bases arrays) const {
    return in_array() ? arrays[piece.base] + piece.offset : buffer;
  }
};

/// To and from one neighbor, in one direction.
struct Channel {
  int rank = 0;
  MessagePlace send = {}, receive = {};
  int link = 0;  ///< of the context's; one channel per chunk, in order
};

/// Sends and receives the channels' messages.
class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual void start_receives() = 0;
  /// Sends the packed message.
  virtual void start_send(int channel) = 0;
  /// Called after the last start_send, for messengers that send all at once.
  virtual void flush() {}
  /// A channel whose message has arrived, each once, or −1.
  virtual int test_receive() = 0;
  /// Whether all send buffers are reusable.
  virtual bool test_sends() = 0;

  /// Call before destruction: completes or cancels pending operations. Returns false if buffers may
  /// stay in use.
  virtual bool settle() { return true; }
};

struct MessageTransportOptions {
  bool in_place = true;    ///< contiguous array pieces need no copy
  bool mpi = true;         ///< polling calls MPI
  bool pieces = false;     ///< split large forward messages to other nodes
  bool on_device = false;  ///< messages in device memory, after a trial
};

using MakeMessenger =
    std::function<std::unique_ptr<Messenger>(const TransportContext&, std::vector<Channel>)>;

inline std::string waiting_text(byte_count bytes, int rank, std::uint64_t number) {
  return "waiting for a message of " + std::to_string(bytes) + " bytes from rank " +
         std::to_string(rank) + " in exchange number " + std::to_string(number);
}

/// Marks the first arrived slot as reported and returns its number; −1: none.
template <class Slots, class HasCome>
int report_next(Slots& slots, HasCome&& has_come) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].reported && has_come(slots[i])) {
      slots[i].reported = true;
      return static_cast<int>(i);
    }
  return -1;
}

std::unique_ptr<Transport> make_message_transport(const TransportContext& context,
    const MakeMessenger& make, MessageTransportOptions options = {});

}  // namespace parhelion
