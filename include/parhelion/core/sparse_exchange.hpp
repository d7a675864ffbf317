// Sparse messages: no rank knows in advance from which ranks it receives.
#pragma once

#include <cstring>
#include <span>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// A message to, or from, one rank.
struct Message {
  int rank = 0;
  std::vector<std::byte> bytes;

  /// Appends the bytes of the values.
  template <class T>
  void append(const T* values, std::size_t count) {
    const auto* raw = reinterpret_cast<const std::byte*>(values);
    bytes.insert(bytes.end(), raw, raw + count * sizeof(T));
  }
  /// The whole message as values of type T.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> result(bytes.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
    return result;
  }
};

/// The values of all messages, in their order.
template <class T>
std::vector<T> joined_values(const std::vector<Message>& messages) {
  Message joined;
  for (const Message& each : messages) joined.append(each.bytes.data(), each.bytes.size());
  return joined.values<T>();
}

/// Longest single MPI message, in bytes; longer messages are split into chunks.
inline constexpr std::size_t largest_sent_at_once = std::size_t{1} << 30;

/// Collective. Delivers every message and returns those for this rank, in rank order. A rank may
/// send to itself. Memory and messages scale with a rank's own messages (nonblocking consensus:
/// Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data
/// exchange", PPoPP 2010).
std::vector<Message> sparse_exchange(const Communicator& comm, std::vector<Message> outgoing,
    std::size_t largest_message = largest_sent_at_once);

/// Collective over neighbors: sends `answers` and receives one message from each rank of
/// `expected`, without consensus. Returns them in the order of `expected`.
std::vector<Message> neighbor_exchange(const Communicator& comm,
    const std::vector<Message>& answers, const std::vector<int>& expected,
    std::size_t largest_message = largest_sent_at_once);

/// Messages to or from several ranks, in one buffer that only grows.
struct PackedMessages {
  /// The message of one rank: `bytes` bytes from offset `first` on.
  struct Part {
    int rank;
    std::size_t first, bytes;
  };
  std::vector<Part> parts;
  std::vector<std::byte> memory;  ///< as large as the largest use so far

  /// Appends `bytes` bytes for `rank`, extending the last part if it has that rank. The pointer
  /// is valid until the next call.
  std::byte* add(int rank, std::size_t bytes);
};

/// Repeated sparse exchanges, which allocate only when they send or receive more than ever before.
class RepeatedExchange {
 public:
  explicit RepeatedExchange(Communicator comm) : comm_(std::move(comm)) {}

  const Communicator& communicator() const { return comm_; }
  /// Messages to send, at most one part per rank.
  PackedMessages& outgoing() { return buffers_->out; }
  /// Collective, within a collective call. Delivers the outgoing messages. Returns whether all
  /// ranks passed an equal `print`.
  bool run(std::uint64_t print, std::size_t largest_message = largest_sent_at_once);
  /// The received messages, in rank order, valid until the next use.
  std::span<const PackedMessages::Part> received() const { return buffers_->in.parts; }
  const std::byte* bytes_of(const PackedMessages::Part& part) const;
  /// Resets the object after a call that has failed on every rank.
  void start_anew();

 private:
  struct Buffers {
    PackedMessages out, in;
    std::vector<MPI_Request> requests;
  };
  Communicator comm_;
  Tag tag_;
  bool under_way_ = false;
  std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

}  // namespace parhelion
