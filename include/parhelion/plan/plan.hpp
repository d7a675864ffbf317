// Patterns × fields: everything compiled that an exchange needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/core/collective.hpp"
#include "parhelion/pattern/pattern.hpp"
#include "parhelion/plan/field.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion {

/// Fields of one pattern, or of one grid.
struct Group {
    Group(Pattern pattern, std::vector<Field> of);
    /// A pattern for each stagger (and, where the domain's boundary is owned, depth) that fields
    /// have, which travel together. Local; what does not fit is told when the exchange is made.
    Group(const CartesianDomain& domain, std::vector<Field> of);

    std::vector<Pattern> patterns;
    std::vector<Field> fields;  ///< each has the first pattern of its stagger and ends
};

/// What a rank shares with one neighbor in one stage: a link per pattern, one without entries where
/// the pattern has none.
using Links = std::vector<const Link*>;

/// One direction of a link. Packing and unpacking use base 0 for the message and the plan's bases
/// for the fields.
struct Way {
    byte_count send_bytes = 0, receive_bytes = 0;
    Program pack;    ///< fields → message
    Program unpack;  ///< message → fields (forward: copy; reverse: reduce)
};

/// A neighbor: one message each way, with all fields of all groups in it.
struct LinkPlan {
    int rank = 0;
    Links links;
    Way forward, reverse;
    Program repeat;      ///< forward, after unpack: ghosts that repeat another one
    bool small = false;  ///< ghosts lie in small pieces on one of the two sides; equal on both
    std::vector<std::vector<int>>
        orders;  ///< per field, the order in which the neighbor packs its dimensions
    std::vector<std::int64_t> record = {};  ///< what the neighbor gave make_plan for its neighbors
    const Way& way(Direction direction) const {
        return direction == Direction::forward ? forward : reverse;
    }
};

/// This rank as its own neighbor: copied straight, no message.
struct SelfPlan {
    Links links;
    Program forward, repeat, reverse;
};

/// What goes at once: with one message to every neighbor there is one stage, dimension after
/// dimension one for each.
struct StagePlan {
    std::vector<LinkPlan> links;  ///< other ranks, ascending
    std::optional<SelfPlan> self;
    /// Forward: all periodic images of some groups, which then are not in `repeat`. Those of owned
    /// cells alone, at the beginning; the others after all else.
    Program wrap_owned, wrap;
};

class Executor;

/// Compiled once. Owns the patterns; the fields' arrays stay the caller's.
///
/// Stage k of a plan is stage k of every pattern that has one: groups exchanged in one stage go
/// with the first stage of those exchanged dimension by dimension. The numbers of stages are equal
/// on all ranks, so neighbors agree on what goes when.
struct Plan {
    struct Number {
        int group = 0, field = 0;  ///< of the groups that were passed, and within it
    };
    std::vector<std::shared_ptr<const Pattern>> patterns;  ///< of the groups, one after another
    std::vector<std::vector<Box>> reaches;  ///< of each pattern and block: the smallest box around
                                            ///< all that is read or written
    std::vector<Field> fields;  ///< as they were passed, or as a subset lists them; `halo` is that
                                ///< of ghosts, the point of the next block among them
    std::vector<HaloWidth> depths;  ///< of each field, as it was passed
    std::vector<Number> numbers;    ///< of each field
    std::vector<int> group_of;      ///< of each field: its pattern
    bool several = false;           ///< groups were passed: messages name them
    std::vector<int> like;  ///< of each field, the first one of its layout: their copies are equal
                            ///< but for where they begin
    std::vector<std::byte*> bases;  ///< field by field, block by block
    std::vector<int> first_base;    ///< of each field
    std::vector<StagePlan> stages;
    std::shared_ptr<Executor> executor;  ///< makes all copies of the fields' memory

    const Communicator& communicator() const { return patterns.front()->communicator; }
    /// Pattern and link of a field.
    const Pattern& pattern_of(int f) const { return *patterns[group_of[f]]; }
    const Link& link_of(const Links& links, int f) const { return *links[group_of[f]]; }
    MemorySpace space() const { return fields.empty() ? MemorySpace::host : fields.front().space; }
    /// The fields' arrays are these from now on. Programs are the same.
    void move_to(Bases arrays);
    /// Bytes sent to other ranks in one exchange, and messages. Local.
    byte_count bytes_sent(Direction direction = Direction::forward) const;
    int messages_sent(Direction direction = Direction::forward) const;
};

/// What a later stage has ranks agree on, and tell each other, while a plan is made.
struct PlanTerms {
    TellProperties options = {};       ///< whatever else must be equal on all ranks
    std::function<void()> check = {};  ///< throws what is wrong on this rank. Local
    std::function<std::vector<std::int64_t>()> record =
        {};  ///< words for each neighbor. Collective: asked for once ranks have agreed
    std::function<int()> threads = {};  ///< that share large copies; asked after `check`. None: 1
};

/// Collective. Checks the fields against their patterns and the ranks against each other, then
/// compiles. Errors (on every rank): no group, or patterns of several communicators; fields that do
/// not fit their pattern, or that differ between ranks in number, element, components, stagger or
/// depth; fields, or blocks of a field, that share cells (check_disjoint); broken patterns, and
/// patterns whose links have no partner or another size or shape there.
Plan make_plan(std::vector<Group> groups, const PlanTerms& terms = {});

/// "field 2", or where there are several groups "field 2 of group 1", for messages: numbered from 0
/// within its group.
std::string field_name(const Plan& plan, int f);

/// Of all ghosts of a neighbor's links.
byte_count ghost_bytes(const Plan& plan, const Links& links);

}  // namespace parhelion
