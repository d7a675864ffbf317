#include "plan/array_block.hpp"

#include <algorithm>

namespace parhelion {
namespace {

byte_count cells_of(const Plan& plan, std::size_t b) {
    if (plan.pattern->indexed()) return b == 0 ? plan.pattern->owned : plan.pattern->ghosts;
    return plan.pattern->blocks[b].cells();
}

// Farthest offsets from the first cell, strides of either sign.
struct Reach {
    byte_count low = 0, high = 0;
    void add(byte_count stride, byte_count from, byte_count to) {
        low += std::min(from * stride, to * stride);
        high += std::max(from * stride, to * stride);
    }
};

ArrayBlock block_of_rows(const BlockView& view) {
    byte_count low = 0, high = 0;
    for (const RowSpan& row : *view.rows) {
        low = std::min(low, row.first);
        high = std::max(high, row.first + row.bytes);
    }
    return {view.first, view.first + low, view.first + high};
}

}  // namespace

ArrayBlock array_block(const Plan& plan, const Field& field, std::size_t b) {
    const BlockView& view = field.blocks[b];
    if (cells_of(plan, b) == 0 || view.first == nullptr) return {};
    if (view.rows != nullptr) return block_of_rows(view);
    Reach reach;
    if (plan.pattern->indexed()) {
        reach.add(view.strides[0], 0, cells_of(plan, b) - 1);
    } else {
        for (int d = 0; d < plan.pattern->dimensions; ++d)
            reach.add(view.strides[d], -field.halo.lower[d], plan.pattern->blocks[b].extent(d) - 1 + field.halo.upper[d]);
    }
    reach.add(field.stride_of_components(b), 0, field.components - 1);
    return {view.first, view.first + reach.low, view.first + reach.high + field.element.size};
}

}  // namespace parhelion
