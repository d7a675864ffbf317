// A large message to another node cut into pieces: while one travels the next is packed, and the
// one before it unpacked.
#pragma once

#include <vector>

#include "parhelion/plan/plan.hpp"

namespace parhelion {

/// A piece of a forward message. The program's side of the message counts from the piece's start.
struct MessagePiece {
    byte_count bytes = 0;
    Program program;  ///< fields → piece, or piece → fields
};

/// Pieces of what a link sends, and of what it receives; both ends cut alike. One piece or none
/// where the message is too small to gain. Needs the communicator's node(). Local.
std::vector<MessagePiece> pieces_sent(const Plan& plan, const LinkPlan& link);
std::vector<MessagePiece> pieces_received(const Plan& plan, const LinkPlan& link);

}  // namespace parhelion
