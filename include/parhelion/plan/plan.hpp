// Pattern × fields: everything compiled that an exchange needs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parhelion/core/agreement.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "parhelion/plan/field.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// One direction of a link. Packing and unpacking use base 0 for the message and the plan's bases for the fields.
struct Way {
    byte_count send_bytes = 0, receive_bytes = 0;
    Program pack;    ///< fields → message
    Program unpack;  ///< message → fields (forward: copy; reverse: reduce)
};

/// A neighbor: one message each way, with all fields in it.
struct LinkPlan {
    int rank = 0;
    const Link* link = nullptr;
    Way forward, reverse;
    Program repeat;  ///< forward, after unpack: ghosts that repeat another one
    bool thin = false;  ///< ghosts lie in small pieces on one of the two sides; equal on both
    std::vector<std::vector<int>> orders;  ///< per field, the order in which the neighbor packs its dimensions
    std::vector<std::int64_t> card = {};   ///< what the neighbor gave make_plan for its neighbors
    const Way& way(Direction direction) const { return direction == Direction::forward ? forward : reverse; }
};

/// This rank as its own neighbor: copied straight, no message.
struct SelfPlan {
    Program forward, repeat, reverse;
};

struct StagePlan {
    std::vector<LinkPlan> links;  ///< other ranks, ascending
    std::optional<SelfPlan> self;
    Program wrap;  ///< forward, after all else: where it is not empty it fills all periodic images, and `repeat` is empty
};

class CopyTeam;

/// Compiled once. Owns the pattern; the fields' arrays stay the caller's.
struct Plan {
    std::shared_ptr<const Pattern> pattern;
    std::vector<Field> fields;
    std::vector<std::byte*> bases;     ///< field by field, block by block
    std::vector<int> first_base;       ///< of each field
    std::vector<StagePlan> stages;
    std::shared_ptr<CopyTeam> team = {};  ///< threads that share large copies; null: the caller copies alone
    int parts = 1;                     ///< into which owned cells are divided for those who finish them at different times

    const Communicator& communicator() const { return pattern->communicator; }
    /// Bytes sent to other ranks in one exchange, and messages. Local.
    byte_count bytes_sent(Direction direction = Direction::forward) const;
    int messages_sent(Direction direction = Direction::forward) const;
};

/// Collective. Checks the fields against the pattern and the ranks against each other, then compiles.
/// `options` tells whatever else must be equal on all ranks. `card`, words for a later stage, goes to each neighbor.
/// Errors (on every rank): fields that do not fit the pattern, or that differ between ranks in number, element,
/// components or halo; fields, or blocks of a field, that share cells (check_disjoint); broken patterns, and patterns whose links
/// have no partner or another size or shape there.
Plan make_plan(Pattern pattern, std::vector<Field> fields, const TellProperties& options = {},
               const std::vector<std::int64_t>& card = {});

/// Straight copies from a rank's cells into its own ghosts, or (reverse) back. Used for periodic images.
SelfPlan compile_self(const Plan& plan, const Link& link);

/// All ghosts of a link → a message, and that message's size.
Program compile_ghosts(const Plan& plan, const Link& link);
byte_count ghost_bytes(const Plan& plan, const Link& link);

}  // namespace parhelion
