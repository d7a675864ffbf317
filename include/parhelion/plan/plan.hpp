// Plans: patterns × fields, compiled.
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
    /// Builds one pattern for each stagger of the fields (and each depth, if the domain's boundary
    /// is owned); the fields still share messages. Local. The constructor of the exchange reports
    /// fields that do not fit.
    Group(const CartesianDomain& domain, std::vector<Field> of);

    std::vector<Pattern> patterns;
    std::vector<Field> fields;  ///< each uses the first pattern with its stagger and ends
};

/// What a rank shares with one neighbor in one stage: one link per pattern, empty where a pattern
/// has none.
using Links = std::vector<const Link*>;

/// One direction of a link. In pack and unpack, base 0 is the message on one side, and the plan's
/// bases are the fields on the other.
struct Way {
    byte_count send_bytes = 0, receive_bytes = 0;
    Program pack;    ///< fields → message
    Program unpack;  ///< message → fields (forward: copy; reverse: reduce)
};

/// A neighbor: one message in each direction, with all fields of all groups.
struct LinkPlan {
    int rank = 0;
    Links links;
    Way forward, reverse;
    Program repeat;      ///< forward, after unpack: copies to ghosts that duplicate another one
    bool small = false;  ///< ghosts lie in small pieces on at least one side; both sides agree
    std::vector<std::vector<int>>
        orders;  ///< per field: the neighbor's packing order of dimensions
    std::vector<std::int64_t> record = {};  ///< the neighbor's PlanTerms::record for this rank
    const Way& way(Direction direction) const {
        return direction == Direction::forward ? forward : reverse;
    }
};

/// This rank as its own neighbor: direct copies, no message.
struct SelfPlan {
    Links links;
    Program forward, repeat, reverse;
};

/// Messages that travel concurrently. One stage if each neighbor gets one message; one per
/// dimension if dimensions are exchanged one after another.
struct StagePlan {
    std::vector<LinkPlan> links;  ///< other ranks, ascending
    std::optional<SelfPlan> self;
    /// Forward: all periodic copies of some groups, which are then not in `repeat`. wrap_owned
    /// copies owned cells at the beginning; wrap copies the rest at the end.
    Program wrap_owned, wrap;
};

class Executor;

/// Compiled once. Owns the patterns; the caller owns the arrays.
///
/// Stage k of a plan is stage k of every pattern that has one: single-stage groups travel with the
/// first stage of groups exchanged dimension by dimension. All ranks have the same number of
/// stages, so neighbors agree on the contents of each message.
struct Plan {
    struct Number {
        int group = 0, field = 0;  ///< index among the groups passed, and within the group
    };
    std::vector<std::shared_ptr<const Pattern>> patterns;  ///< of the groups, concatenated
    std::vector<std::vector<Box>>
        reaches;  ///< per pattern and block: bounding box of all cells read or written
    std::vector<Field> fields;  ///< in the order passed, or listed by a subset; `halo` is the ghost
                                ///< width, the boundary point of the next block included
    std::vector<HaloWidth> depths;  ///< per field, as passed
    std::vector<Number> numbers;    ///< per field
    std::vector<int> group_of;      ///< per field: index of its pattern
    bool several = false;           ///< groups were passed: messages name them
    std::vector<int> like;  ///< per field: the first field with its layout; their copies differ
                            ///< only in the base address
    std::vector<std::byte*> bases;  ///< field by field, block by block
    std::vector<int> first_base;    ///< per field
    std::vector<StagePlan> stages;
    std::shared_ptr<Executor> executor;  ///< runs all copies of the fields' memory

    const Communicator& communicator() const { return patterns.front()->communicator; }
    /// Pattern and link of a field.
    const Pattern& pattern_of(int f) const { return *patterns[group_of[f]]; }
    const Link& link_of(const Links& links, int f) const { return *links[group_of[f]]; }
    MemorySpace space() const { return fields.empty() ? MemorySpace::host : fields.front().space; }
    /// Replaces the fields' arrays. Programs stay the same.
    void move_to(Bases arrays);
    /// Bytes, and messages, that this rank sends to other ranks in one exchange. Local.
    byte_count bytes_sent(Direction direction = Direction::forward) const;
    int messages_sent(Direction direction = Direction::forward) const;
};

/// What the caller of make_plan adds to the agreement between ranks.
struct PlanTerms {
    TellProperties options = {};       ///< further options that must be equal on all ranks
    std::function<void()> check = {};  ///< throws Error for a problem on this rank. Local
    std::function<std::vector<std::int64_t>()> record =
        {};  ///< words for each neighbor. Collective: called once ranks agree
    std::function<int()> threads =
        {};  ///< number of threads that share large copies; called after `check`. Null: 1
};

/// Collective. Checks the fields against their patterns and the ranks against each other, then
/// compiles. Throws Error on every rank for: no group; patterns of several communicators; fields
/// that do not fit their pattern, or whose number, element, components, stagger or depth differ
/// between ranks; fields or blocks that share cells (check_disjoint); inconsistent patterns; links
/// without a partner, or with another size or shape there.
Plan make_plan(std::vector<Group> groups, const PlanTerms& terms = {});

/// "field 2", or with several groups "field 2 of group 1", for messages. Fields are numbered from 0
/// within their group.
std::string field_name(const Plan& plan, int f);

/// Total size of all ghosts of a neighbor's links.
byte_count ghost_bytes(const Plan& plan, const Links& links);

}  // namespace parhelion
