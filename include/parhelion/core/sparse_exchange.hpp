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

/// Longest MPI message, in bytes; longer ones are split.
inline constexpr std::size_t largest_sent_at_once = std::size_t{1} << 30;

/// Collective. Delivers every message, possibly to this rank; returns those for this rank, in rank
/// order. Memory and messages scale with a rank's own messages (nonblocking consensus: Hoefler,
/// Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP
/// 2010).
std::vector<Message> sparse_exchange(const Communicator& comm, std::vector<Message> outgoing,
    std::size_t largest_message = largest_sent_at_once);

/// Collective over neighbors, without consensus: sends `answers`, and returns one message from each
/// rank of `expected`, in that order.
std::vector<Message> neighbor_exchange(const Communicator& comm,
    const std::vector<Message>& answers, const std::vector<int>& expected,
    std::size_t largest_message = largest_sent_at_once);

/// Messages to or from several ranks, in one buffer that only grows.
struct PackedMessages {
  /// `bytes` bytes of one rank, from offset `first` on.
  struct Part {
    int rank;
    std::size_t first, bytes;
  };
  std::vector<Part> parts;
  std::vector<std::byte> memory;  ///< as large as the largest use so far

  /// Appends `bytes` bytes for `rank`, extending the last part if it is that rank's. The pointer is
  /// valid until the next call.
  std::byte* add(int rank, std::size_t bytes);
};

/// Repeated sparse exchanges; allocate only to send or receive more than ever before.
class RepeatedExchange {
 public:
  explicit RepeatedExchange(Communicator comm) : comm_(std::move(comm)) {}

  const Communicator& communicator() const { return comm_; }
  /// Messages to send, at most one part per rank.
  PackedMessages& outgoing() { return buffers_->out; }
  /// Collective, within a collective call. Delivers the outgoing messages. Returns whether `print`
  /// is equal on all ranks.
  bool run(std::uint64_t print, std::size_t largest_message = largest_sent_at_once);
  /// Received messages, in rank order, valid until the next use.
  std::span<const PackedMessages::Part> received() const { return buffers_->in.parts; }
  const std::byte* bytes_of(const PackedMessages::Part& part) const;
  /// After a call that has failed on every rank.
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
