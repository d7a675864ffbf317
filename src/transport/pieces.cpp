#include "transport/pieces.hpp"

#include <algorithm>
#include <cstdlib>

#include "plan/parts.hpp"

namespace parhelion {
namespace {

// Over TCP a piece of less costs more by its system calls than it gains.
constexpr byte_count smallest = 32 << 10;
constexpr byte_count most_pieces = 8;

// For tests: pieces of this size, of messages to any neighbor.
byte_count size_for_tests() {
    static const byte_count size = [] {
        const char* text = std::getenv("PARHELION_PIECE_BYTES");
        return text == nullptr ? byte_count{0} : std::max<byte_count>(std::atoll(text), 1);
    }();
    return size;
}

void shift(Program& program, byte_count offset, bool destination) {
    for (StridedOp& op : program.strided) (destination ? op.dst : op.src) += offset;
    for (IndexedOp& op : program.indexed) (destination ? op.dst : op.src) += offset;
    for (RunsOp& op : program.runs)
        for (Run& run : op.runs) (destination ? run.dst : run.src) += offset;
}

bool continues(const StridedOp& first, const StridedOp& next) {
    return first.dims == 0 && next.dims == 0 && first.src_base == next.src_base && first.dst_base == next.dst_base &&
           first.src + first.width == next.src && first.dst + first.width == next.dst;
}

// What is one piece of an array stays one, for it needs no copy.
void append(Program& all, Program more) {
    for (const StridedOp& op : more.strided)
        if (!all.strided.empty() && continues(all.strided.back(), op)) all.strided.back().width += op.width;
        else all.strided.push_back(op);
    std::move(more.indexed.begin(), more.indexed.end(), std::back_inserter(all.indexed));
    std::move(more.runs.begin(), more.runs.end(), std::back_inserter(all.runs));
}

constexpr byte_count aligned(byte_count bytes) { return (bytes + 63) / 64 * 64; }

byte_count size_of_pieces(const std::vector<Part>& parts) {
    byte_count total = 0;
    for (const Part& part : parts) total += part.bytes;
    return std::max(smallest, total / most_pieces);
}

// Consecutive parts until they are large enough together. Parts follow the alignment that vectors like.
std::vector<MessagePiece> gather(std::vector<Part> parts, byte_count size, bool packing) {
    std::vector<MessagePiece> pieces;
    bool full = true;
    for (Part& part : parts) {
        if (full) pieces.push_back({pieces.empty() ? 0 : aligned(pieces.back().offset + pieces.back().bytes), 0, {}});
        MessagePiece& piece = pieces.back();
        const byte_count at = aligned(piece.bytes);
        shift(part.program, at, packing);
        append(piece.program, std::move(part.program));
        piece.bytes = at + part.bytes;
        full = piece.bytes >= size;
    }
    return pieces;
}

std::vector<MessagePiece> cut(const Plan& plan, const LinkPlan& link, bool packing) {
    const byte_count asked = size_for_tests(), bytes = packing ? link.forward.send_bytes : link.forward.receive_bytes;
    if (asked == 0 && (bytes < 2 * smallest || plan.communicator().node_rank(link.rank) >= 0)) return {};
    std::vector<Part> parts = packing ? parts_sent(plan, link) : parts_received(plan, link);
    const byte_count size = asked > 0 ? asked : size_of_pieces(parts);
    return gather(std::move(parts), size, packing);
}

}  // namespace

std::vector<MessagePiece> pieces_sent(const Plan& plan, const LinkPlan& link) { return cut(plan, link, true); }
std::vector<MessagePiece> pieces_received(const Plan& plan, const LinkPlan& link) { return cut(plan, link, false); }

}  // namespace parhelion
