#include "transport/node/peer_plan.hpp"

namespace parhelion {

void put_peer_plan(Words& words, const Plan& plan, const Link& link, const ArrayAccess& access) {
    words.push_back(plan.pattern->owned);
    words.push_back(static_cast<global_index>(plan.pattern->blocks.size()));
    for (const Box& block : plan.pattern->blocks) put_box(words, block);
    put_selection(words, link.receive);
    put_selection(words, link.send);
    for (const Field& field : plan.fields) {
        words.push_back(static_cast<global_index>(field.blocks.size()));
        for (std::size_t b = 0; b < field.blocks.size(); ++b) {
            const BlockView& block = field.blocks[b];
            const ArrayBlock cells = array_block(plan, field, b);
            words.push_back(!cells.empty());
            if (!cells.empty()) put_block_place(words, access.describe(cells).value());
            words.insert(words.end(), block.strides.begin(), block.strides.end());
            words.push_back(block.component_stride != 0 ? block.component_stride : field.component_stride);
        }
    }
}

PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access) {
    PeerPlan peer;
    peer.arrays.start();
    auto pattern = std::make_shared<Pattern>(Pattern{mine.communicator(), mine.pattern->dimensions, {}, HaloWidth(0), 0, 0, {}});
    pattern->owned = words.next_in<local_index>(0, 2147483647);
    pattern->blocks.resize(words.count(8));
    for (Box& block : pattern->blocks) block = words.box();
    peer.receive = words.selection();
    peer.send = words.selection();
    for (const Field& own : mine.fields) {
        Field field{own.element, own.components, own.component_stride, own.halo, own.indexed, {}};
        peer.plan.first_base.push_back(static_cast<int>(peer.plan.bases.size()));
        field.blocks.resize(words.count(max_dimensions + 2));
        for (BlockView& block : field.blocks) {
            if (words.next() != 0) block.first = peer.arrays.find(get_block_place(words), access);
            for (auto& stride : block.strides) stride = words.next();
            block.component_stride = words.next();
            peer.plan.bases.push_back(block.first);
        }
        peer.plan.fields.push_back(std::move(field));
    }
    peer.plan.pattern = std::move(pattern);
    return peer;
}

}  // namespace parhelion
