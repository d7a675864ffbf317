#include "transport/pieces.hpp"

#include <algorithm>

#include "core/environment.hpp"
#include "parhelion/core/aligned.hpp"
#include "plan/parts.hpp"

namespace parhelion {
namespace {

// Linux hands TCP's data on in packets of up to 64 KiB, their headers included: a piece that is
// just too large for one takes as long as two. Pieces of half of that cost more by their system
// calls than they gain.
constexpr byte_count largest = 56 << 10;
constexpr byte_count most_pieces = 64;

// For tests: pieces of this size, of messages to any neighbor.
byte_count size_for_tests() {
    static const byte_count size = [] {
        const auto told = number_told("PARHELION_PIECE_BYTES");
        return told ? std::max<byte_count>(*told, 1) : 0;
    }();
    return size;
}

void shift(Program& program, byte_count offset, bool destination) {
    for (StridedOp& op : program.strided) (destination ? op.dst : op.src) += offset;
    for (IndexedOp& op : program.indexed) (destination ? op.dst : op.src) += offset;
    for (RunsOp& op : program.runs) (destination ? op.dst : op.src) += offset;
}

bool continues(const StridedOp& first, const StridedOp& next) {
    return first.dims == 0 && next.dims == 0 && first.src_base == next.src_base &&
           first.dst_base == next.dst_base && first.src + first.width == next.src &&
           first.dst + first.width == next.dst;
}

// What is one piece of an array stays one, for it needs no copy.
void append(Program& all, Program more) {
    for (const StridedOp& op : more.strided)
        if (!all.strided.empty() && continues(all.strided.back(), op))
            all.strided.back().width += op.width;
        else all.strided.push_back(op);
    std::move(more.indexed.begin(), more.indexed.end(), std::back_inserter(all.indexed));
    std::move(more.runs.begin(), more.runs.end(), std::back_inserter(all.runs));
}

byte_count size_of_pieces(byte_count total) {
    const byte_count count = std::min((total + largest - 1) / largest, most_pieces);
    return (total + count - 1) / count;
}

// Consecutive parts until the next would make a piece larger than asked for. Parts follow the
// alignment that vectors like.
std::vector<MessagePiece> gather(std::vector<Part> parts, byte_count size, bool packing) {
    std::vector<MessagePiece> pieces;
    for (Part& part : parts) {
        if (pieces.empty() || whole_lines(pieces.back().bytes) + part.bytes > size)
            pieces.emplace_back();
        MessagePiece& piece = pieces.back();
        const byte_count at = whole_lines(piece.bytes);
        shift(part.program, at, packing);
        append(piece.program, std::move(part.program));
        piece.bytes = at + part.bytes;
    }
    return pieces;
}

std::vector<MessagePiece> cut(const Plan& plan, const LinkPlan& link, bool packing) {
    const byte_count asked = size_for_tests(),
                     bytes = packing ? link.forward.send_bytes : link.forward.receive_bytes;
    if (asked == 0 && (bytes <= largest || plan.communicator().node_rank(link.rank) >= 0))
        return {};
    std::vector<Part> parts = packing ? parts_sent(plan, link) : parts_received(plan, link);
    return gather(std::move(parts), asked > 0 ? asked : size_of_pieces(bytes), packing);
}

}  // namespace

std::vector<MessagePiece> pieces_sent(const Plan& plan, const LinkPlan& link) {
    return cut(plan, link, true);
}
std::vector<MessagePiece> pieces_received(const Plan& plan, const LinkPlan& link) {
    return cut(plan, link, false);
}

}  // namespace parhelion
