// Messages to a few ranks when nobody knows who will write to whom.
#pragma once

#include <cstring>
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

}  // namespace parhelion
