#include "transport/partitions.hpp"

#include <algorithm>
#include <limits>

#include "parhelion/core/aligned.hpp"
#include "transport/message_type.hpp"

namespace parhelion {
namespace {

// Smaller ones cost more than they gain: each is a message of its own.
constexpr byte_count smallest = 4096;
constexpr int most = 64;
constexpr byte_count largest = byte_count{1} << 30;  // some MPIs count a partition's bytes by 32 bits

std::vector<int> partitions_of(const Program& program, const Partitions& partitions) {
    std::vector<bool> touches(static_cast<std::size_t>(partitions.count));
    const auto mark = [&](MessageSpan span) {
        for (int p = partitions.holding(span.first); span.first < span.last && p <= partitions.holding(span.last - 1); ++p)
            touches[static_cast<std::size_t>(p)] = true;
    };
    for (const StridedOp& op : program.strided) mark(span_of(op, false));
    for (const IndexedOp& op : program.indexed) mark(span_of(op, false));
    for (const RunsOp& op : program.runs)
        for (const Run& run : op.runs) mark({op.dst + run.dst, op.dst + run.dst + run.bytes});
    std::vector<int> which;
    for (int p = 0; p < partitions.count; ++p)
        if (touches[static_cast<std::size_t>(p)]) which.push_back(p);
    return which;
}

}  // namespace

Partitions::Partitions(byte_count bytes, const Plan& plan) {
    if (bytes == 0) return;
    const auto wanted =
        plan.parts == 1 ? byte_count{1} : std::min<byte_count>(byte_count{plan.parts} * static_cast<byte_count>(plan.fields.size()), most);
    const byte_count each = std::min({std::max((bytes + wanted - 1) / wanted, smallest), largest, largest_count()});
    size = whole_lines(each);
    count = static_cast<int>((bytes + size - 1) / size);
}

PartitionCounts::PartitionCounts(const Partitions& partitions, const std::vector<Program>& programs)
    : parts_of_(static_cast<std::size_t>(partitions.count)),
      missing_(std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(partitions.count))) {
    for (const Program& program : programs) {
        touched_.push_back(partitions_of(program, partitions));
        for (const int partition : touched_.back()) ++parts_of_[static_cast<std::size_t>(partition)];
    }
}

void PartitionCounts::reset() {
    for (std::size_t p = 0; p < parts_of_.size(); ++p) missing_[p].store(parts_of_[p], std::memory_order_relaxed);
}

MessageSpan span_of(const StridedOp& op, bool of_source) {
    const byte_count first = of_source ? op.src : op.dst;
    byte_count last = first + op.width;
    for (int d = 0; d < op.dims; ++d) {
        const auto dimension = static_cast<std::size_t>(d);
        last += (op.count[dimension] - 1) * (of_source ? op.src_stride : op.dst_stride)[dimension];
    }
    return {first, last};
}

// The message has no list.
MessageSpan span_of(const IndexedOp& op, bool of_source) {
    const byte_count first = of_source ? op.src : op.dst, stride = of_source ? op.src_stride : op.dst_stride;
    return {first, first + (op.count - 1) * stride + op.width};
}

MessageSpan span_of(const RunsOp& op, bool of_source) {
    MessageSpan span{std::numeric_limits<byte_count>::max(), 0};
    for (const Run& run : op.runs) {
        const byte_count first = of_source ? op.src + run.src : op.dst + run.dst;
        span = {std::min(span.first, first), std::max(span.last, first + run.bytes)};
    }
    return span;
}

}  // namespace parhelion
