#include "parhelion/index_map/buffered_exchange.hpp"

#include "parhelion/core/aligned.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

// Numbers the entries of a link as they lie in the buffer, and keeps in `list` which cell each is.
void number_entries(std::vector<local_index>& cells, std::vector<local_index>& list, local_index first_cell,
                    local_index first_number) {
    for (local_index& cell : cells) {
        list.push_back(cell - first_cell);
        cell = first_number + static_cast<local_index>(list.size()) - 1;
    }
}

// Every entry gets a place of its own, those that repeat a cell too: in a reverse exchange each of them brings a value.
// They are therefore no repeated ones here, and travel in a forward exchange as well.
void forget_repetition(Link& link) {
    link.send_unique = static_cast<local_index>(link.send.cells.size());
    link.receive_unique = static_cast<local_index>(link.receive.cells.size());
    link.send_duplicate_of.clear();
    link.receive_duplicate_of.clear();
}

// The pattern with cells numbered as they lie in the buffers.
Pattern buffer_pattern(const Pattern& pattern, std::vector<local_index>& sent, std::vector<local_index>& received) {
    Pattern buffer = pattern;
    for (Stage& stage : buffer.stages)
        for (Link& link : stage) {
            forget_repetition(link);
            number_entries(link.send.cells, sent, 0, 0);
        }
    buffer.owned = static_cast<local_index>(sent.size());
    for (Stage& stage : buffer.stages)
        for (Link& link : stage) number_entries(link.receive.cells, received, pattern.owned, buffer.owned);
    return buffer;
}

IndexedOp copy_op(byte_count width, std::size_t count, byte_count src_stride, const local_index* src_list,
                  byte_count dst_stride, const local_index* dst_list, Scalar scalar = Scalar::bytes) {
    return {0, 0, 0, 0, width, static_cast<byte_count>(count), src_stride, dst_stride, src_list, dst_list, scalar};
}

}  // namespace

BufferedExchange::BufferedExchange(const Pattern& pattern, byte_count width) : width_(width) {
    Pattern buffer = buffer_pattern(pattern, sent_, received_);
    const byte_count sent_bytes = whole_lines(static_cast<byte_count>(sent_.size()) * width);
    memory_ = allocate_node_shared(sent_bytes + static_cast<byte_count>(received_.size()) * width + 64);
    sent_values_ = memory_.get();
    received_values_ = memory_.get() + sent_bytes;
    const Element cell{Scalar::bytes, static_cast<std::int32_t>(width)};
    Field field = view_cells(sent_values_, buffer.owned, received_values_, buffer.ghosts, cell);
    exchange_ = std::make_unique<Exchange>(std::move(buffer), std::vector<Field>{std::move(field)});
}

const Program& BufferedExchange::pack(Copy& copy, const std::vector<local_index>& cells, byte_count stride) {
    if (copy.stride != stride) {
        copy = {stride, {}};
        copy.program.add(copy_op(width_, cells.size(), stride, cells.data(), width_, nullptr));
    }
    return copy.program;
}

const Program& BufferedExchange::unpack(Copy& copy, const std::vector<local_index>& cells, byte_count stride) {
    if (copy.stride != stride) {
        copy = {stride, {}};
        copy.program.add(copy_op(width_, cells.size(), width_, nullptr, stride, cells.data()));
    }
    return copy.program;
}

void BufferedExchange::pack_forward(CellArray owned) {
    if (!sent_.empty()) run(pack(pack_owned_, sent_, owned.stride), &owned.first, &sent_values_);
}

void BufferedExchange::unpack_forward(CellArray ghosts) {
    if (!received_.empty()) run(unpack(unpack_ghosts_, received_, ghosts.stride), &received_values_, &ghosts.first);
}

void BufferedExchange::forward(CellArray owned, CellArray ghosts) {
    pack_forward(owned);
    (*exchange_)();
    unpack_forward(ghosts);
}

void BufferedExchange::begin_forward(CellArray owned) {
    pack_forward(owned);
    step_ = std::make_unique<Exchange::Step>(exchange_->begin());
}

void BufferedExchange::end_step() {
    const auto step = std::move(step_);
    step->end();
}

void BufferedExchange::end_forward(CellArray ghosts) {
    end_step();
    unpack_forward(ghosts);
}

void BufferedExchange::pack_reverse(CellArray ghosts) {
    if (!received_.empty()) run(pack(pack_ghosts_, received_, ghosts.stride), &ghosts.first, &received_values_);
}

void BufferedExchange::reverse(CellArray ghosts, CellArray owned, Scalar scalar, Reduction reduction) {
    pack_reverse(ghosts);
    exchange_->reverse(Reduction::replace);
    combine_reverse(owned, scalar, reduction);
}

void BufferedExchange::begin_reverse(CellArray ghosts) {
    pack_reverse(ghosts);
    step_ = std::make_unique<Exchange::Step>(exchange_->begin_reverse(Reduction::replace));
}

void BufferedExchange::end_reverse(CellArray owned, Scalar scalar, Reduction reduction) {
    end_step();
    combine_reverse(owned, scalar, reduction);
}

void BufferedExchange::combine_reverse(CellArray owned, Scalar scalar, Reduction reduction) {
    if (sent_.empty()) return;
    combine_.indexed.clear();
    combine_.add_plain(copy_op(width_, sent_.size(), width_, nullptr, owned.stride, sent_.data(), scalar));
    reduce(combine_, &sent_values_, &owned.first, reduction);
}

}  // namespace parhelion
