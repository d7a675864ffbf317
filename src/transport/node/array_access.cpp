#include "transport/node/array_access.hpp"

#include <unistd.h>

#include "transport/node/peer_memory.hpp"

namespace parhelion {
namespace {

class NodeSharedAccess final : public ArrayAccess {
public:
    std::string refusal(const Plan& plan) const override { return private_field(plan); }
    std::optional<BlockPlace> describe(const ArrayBlock& block) const override {
        static const std::int64_t process = getpid();
        const auto place = find_node_shared(block.first);
        if (!place) return {};
        return BlockPlace{
            {process, place->descriptor, static_cast<std::int64_t>(place->identity), place->size},
            place->offset};
    }
    std::shared_ptr<std::byte> map(const BlockPlace& place) const override {
        const auto& words = place.memory;  // as `describe` put them
        return map_place({words[0], words[1], words[2], words[3], 0});
    }
};

}  // namespace

void put_block_place(Words& header, const BlockPlace& place) {
    header.insert(header.end(), place.memory.begin(), place.memory.end());
    header.push_back(place.offset);
}

BlockPlace get_block_place(WordReader& header) {
    BlockPlace place;
    for (auto& word : place.memory) word = header.next();
    place.offset = header.next();
    return place;
}

const ArrayAccess& node_shared_access() {
    static const NodeSharedAccess access;
    return access;
}

std::string private_field(const Plan& plan) {
    for (std::size_t f = 0; f < plan.fields.size(); ++f)
        for (std::size_t b = 0; b < plan.fields[f].blocks.size(); ++b)
            if (!written_block(plan, f, b).empty() &&
                !find_node_shared(plan.fields[f].blocks[b].first))
                return field_name(plan, static_cast<int>(f)) +
                       " is not in node-shared memory: use an array that make_array, zeros or "
                       "NodeAllocator gives";
    return {};
}

}  // namespace parhelion
