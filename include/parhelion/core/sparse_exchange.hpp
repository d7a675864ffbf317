// Messages to a few ranks when nobody knows who will write to whom.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// Bytes for, or from, one rank.
struct Message {
    int rank = 0;
    std::vector<std::byte> bytes;

    /// Puts values, as the bytes that they are, behind those that are there.
    template <class T>
    void append(const T* values, std::size_t count) {
        const auto* raw = reinterpret_cast<const std::byte*>(values);
        bytes.insert(bytes.end(), raw, raw + count * sizeof(T));
    }
    /// All bytes as values of one type.
    template <class T>
    std::vector<T> values() const {
        std::vector<T> result(bytes.size() / sizeof(T));
        if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
        return result;
    }
};

/// Bytes that are sent at once; a longer message goes in several chunks.
inline constexpr std::size_t largest_sent_at_once = std::size_t{1} << 30;

/// Collective. Delivers every message to its rank and returns those for this rank, in rank order.
/// Messages to oneself are allowed. Memory and messages per rank grow with its own messages only,
/// not with the number of ranks. Source: the nonblocking consensus (NBX) of Hoefler, Siebert,
/// Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange", PPoPP 2010.
std::vector<Message> sparse_exchange(const Communicator& comm, std::vector<Message> outgoing,
                                     std::size_t largest_message = largest_sent_at_once);

/// Collective over neighbors: sends `answers` to, and receives one message from each of `expected`
/// (no consensus needed, both sides know each other). Returned in the order of `expected`.
std::vector<Message> neighbor_exchange(const Communicator& comm,
                                       const std::vector<Message>& answers,
                                       const std::vector<int>& expected,
                                       std::size_t largest_message = largest_sent_at_once);

/// Messages to or from some ranks in memory that only grows.
struct PackedMessages {
    /// `bytes` from byte `first` on, for or from a rank.
    struct Part {
        int rank;
        std::size_t first, bytes;
    };
    std::vector<Part> parts;
    std::vector<std::byte> memory;  ///< as long as it had to be at some time

    /// Room behind the last part, for more of it if it is of that rank. It stays until the next
    /// call.
    std::byte* add(int rank, std::size_t bytes);
};

/// Sparse exchanges one after the other, which allocate nothing unless there is more to send, or to
/// receive, than ever before.
class RepeatedExchange {
public:
    explicit RepeatedExchange(Communicator comm) : comm_(std::move(comm)) {}

    const Communicator& communicator() const { return comm_; }
    /// At most one part for each rank.
    PackedMessages& outgoing() { return buffers_->out; }
    /// Collective, in a collective call. Delivers what is outgoing. Whether all ranks gave one
    /// `print`.
    bool run(std::uint64_t print, std::size_t largest_message = largest_sent_at_once);
    /// What came, in rank order, and where it is until the next use.
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
