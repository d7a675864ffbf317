#include "transport/node/array_access.hpp"

#include <algorithm>

#include "transport/node/peer_memory.hpp"

namespace parhelion {
namespace {

bool has_cells(const Plan& plan, std::size_t b) {
    if (plan.pattern->indexed()) return (b == 0 ? plan.pattern->owned : plan.pattern->ghosts) > 0;
    return !plan.pattern->blocks[b].empty();
}

// Farthest offsets from the first cell, strides of either sign.
struct Reach {
    byte_count low = 0, high = 0;
    void add(byte_count stride, byte_count from, byte_count to) {
        low += std::min(from * stride, to * stride);
        high += std::max(from * stride, to * stride);
    }
};

class NodeSharedAccess final : public ArrayAccess {
public:
    std::string refusal(const Plan& plan) const override { return private_field(plan); }
    void describe(Words& letter, const ArrayBlock& block) const override { put_place(letter, describe_place(block.first)); }
    std::shared_ptr<std::byte> map(WordReader& letter) const override {
        const RemotePlace place = get_place(letter);
        return place.descriptor >= 0 ? map_place(place) : nullptr;
    }
};

}  // namespace

ArrayBlock array_block(const Plan& plan, const Field& field, std::size_t b) {
    const BlockView& view = field.blocks[b];
    if (!has_cells(plan, b) || view.first == nullptr) return {};
    Reach reach;
    if (plan.pattern->indexed()) {
        reach.add(view.strides[0], 0, (b == 0 ? plan.pattern->owned : plan.pattern->ghosts) - 1);
    } else {
        for (int d = 0; d < plan.pattern->dimensions; ++d)
            reach.add(view.strides[d], -field.halo.lower[d], plan.pattern->blocks[b].extent(d) - 1 + field.halo.upper[d]);
    }
    reach.add(field.stride_of_components(b), 0, field.components - 1);
    return {view.first, view.first + reach.low, view.first + reach.high + field.element.size};
}

const ArrayAccess& node_shared_access() {
    static const NodeSharedAccess access;
    return access;
}

std::string ragged_field(const Plan& plan) {
    for (std::size_t f = 0; f < plan.fields.size(); ++f)
        if (plan.fields[f].ragged())
            return "field " + std::to_string(f) + " has ragged rows, whose places a neighbor does not know";
    return {};
}

std::string private_field(const Plan& plan) {
    if (const std::string ragged = ragged_field(plan); !ragged.empty()) return ragged;
    for (std::size_t f = 0; f < plan.fields.size(); ++f)
        for (std::size_t b = 0; b < plan.fields[f].blocks.size(); ++b)
            if (has_cells(plan, b) && !find_node_shared(plan.fields[f].blocks[b].first))
                return "field " + std::to_string(f) + " is not in node-shared memory: use an array that make_array, zeros or NodeAllocator gives";
    return {};
}

}  // namespace parhelion
