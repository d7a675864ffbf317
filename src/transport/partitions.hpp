// A message cut into partitions of one size, as MPI wants them, and which parts of a rank's cells each one needs.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// How a message is cut; equal on both sides, for it follows from what both know.
struct Partitions {
    int count = 0;
    byte_count size = 0;

    Partitions(byte_count bytes, const Plan& plan);
    byte_count padded() const { return count * size; }
    int holding(byte_count place) const { return static_cast<int>(place / size); }
};

/// Partitions of a message, by the parts that fill them.
class PartitionCounts {
public:
    /// `programs`: what each part puts into the message.
    PartitionCounts(const Partitions& partitions, const std::vector<Program>& programs);
    /// Before an exchange.
    void reset();
    /// The part has filled its places: calls full(partition) for each one that lacks nothing any more. Each is reported once.
    template <class Full>
    void filled(int part, Full&& full) {
        for (const int partition : touched_[static_cast<std::size_t>(part)])
            if (missing_[static_cast<std::size_t>(partition)].fetch_sub(1, std::memory_order_acq_rel) == 1) full(partition);
    }

private:
    std::vector<std::vector<int>> touched_;  // by part
    std::vector<int> parts_of_;              // by partition
    std::unique_ptr<std::atomic<int>[]> missing_;
};

/// From the first byte of a message that a copy touches to behind the last. `of_source`: the message is the copy's source.
struct MessageSpan {
    byte_count first, last;
};
MessageSpan span_of(const StridedOp& op, bool of_source);
MessageSpan span_of(const IndexedOp& op, bool of_source);
MessageSpan span_of(const RunsOp& op, bool of_source);

}  // namespace parhelion
