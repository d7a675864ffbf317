#include "index_map/stand_in.hpp"

#include "parhelion/core/node_memory.hpp"

namespace parhelion {

StandIn::StandIn(byte_count width, local_index cells, std::vector<std::span<const local_index>> exchanged)
    : width_(width), cells_(cells), exchanged_(std::move(exchanged)) {}

// Ordinary memory has pages where cells are copied to only: of owned cells, few.
void StandIn::reserve(bool node_shared) {
    if (cells_ == 0) return;
    const byte_count bytes = cells_ * width_;
    if (node_shared) memory_ = allocate_node_shared(bytes);
    else memory_ = {new std::byte[static_cast<std::size_t>(bytes)], std::default_delete<std::byte[]>()};
}

std::byte* StandIn::represent(CellArray array, bool hold) {
    array_ = array;
    used_ = cells_ > 0 && (hold || (array.stride != width_ && cells_ > 1));
    if (!used_) return array.first;
    if (stride_ != array.stride) compile();
    return memory_.get();
}

void StandIn::compile() {
    stride_ = array_.stride;
    bring_ = {};
    for (const auto& list : exchanged_) {
        const auto count = list.data() == nullptr ? byte_count{cells_} : static_cast<byte_count>(list.size());
        bring_.add(IndexedOp{0, 0, 0, 0, width_, count, stride_, width_, list.data(), list.data()});
    }
    give_back_ = inverse(bring_);
}

void StandIn::bring() {
    std::byte* const here = memory_.get();
    if (used_) run(bring_, &array_.first, &here);
}

void StandIn::give_back() {
    std::byte* const here = memory_.get();
    if (used_) run(give_back_, &here, &array_.first);
}

}  // namespace parhelion
