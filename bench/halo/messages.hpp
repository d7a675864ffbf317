#pragma once

#include <vector>

#include "halo/arrays.hpp"

namespace parhelion::bench {

/// One message: regions of all fields, one behind the other, in an order on which sender and
/// receiver agree.
struct Message {
    int rank = 0;  // the other end
    int tag = 0;
    std::size_t bytes = 0;
    std::vector<Region> regions;

    int count() const { return static_cast<int>(bytes); }
};

/// A periodic image of the rank's own cells: copied in place, no message.
struct LocalCopy {
    Region from, to;
};

struct Messages {
    std::vector<Message> sends, receives;
    std::vector<LocalCopy> local;
};

/// One message per offset, or all directions that lead to the same rank in one.
enum class Grouping { per_direction, per_rank };

/// To and from all neighbors.
Messages plan_messages(const HaloArrays& arrays, Grouping grouping);

/// To and from the two neighbors along a dimension, with the ghosts of the dimensions below.
Messages plan_dimension(const HaloArrays& arrays, int dim);

std::vector<int> ranks_of(const std::vector<Message>& messages);
Traffic traffic_of(const std::vector<Message>& sends);

void pack_message(const Message& message, std::byte* buffer);
void unpack_message(const std::byte* buffer, const Message& message);
void copy_local(const std::vector<LocalCopy>& copies);

/// Room for each message, every message on cache lines of its own.
class MessageBuffers {
public:
    explicit MessageBuffers(const std::vector<Message>& messages);
    std::byte* start() const { return memory_.block(0); }
    std::byte* operator[](std::size_t message) const { return start() + offsets_[message]; }
    std::size_t offset(std::size_t message) const { return offsets_[message]; }

private:
    std::vector<std::size_t> offsets_;  // one more than there are messages
    PrivateMemory memory_;
};

}  // namespace parhelion::bench
