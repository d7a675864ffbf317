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
  /// Builds one pattern per stagger of the fields (and depth, if the domain's boundary is owned);
  /// the fields share messages. Local. The exchange's constructor reports fields that do not fit.
  Group(const CartesianDomain& domain, std::vector<Field> of);

  std::vector<Pattern> patterns;
  std::vector<Field> fields;  ///< each uses the first pattern with its stagger and ends
};

/// Links with one neighbor in one stage, one per pattern.
using Links = std::vector<const Link*>;

/// One direction of a link. Base 0 is the message; fields have the plan's bases.
struct Way {
  byte_count send_bytes = 0, receive_bytes = 0;
  Program pack;    ///< fields → message
  Program unpack;  ///< message → fields (forward: copy; reverse: reduce)
};

/// A neighbor: one message per direction, with all fields of all groups.
struct LinkPlan {
  int rank = 0;
  Links links;
  Way forward, reverse;
  Program repeat;      ///< forward, after unpack: copies to duplicate ghosts
  bool small = false;  ///< ghosts in small pieces on one side or both; equal on both
  std::vector<std::vector<int>> orders;   ///< per field: the neighbor's packing order
  std::vector<std::int64_t> record = {};  ///< the neighbor's PlanTerms::record for this rank
  const Way& way(Direction direction) const {
    return direction == Direction::forward ? forward : reverse;
  }
};

/// This rank as its own neighbor.
struct SelfPlan {
  Links links;
  Program forward, repeat, reverse;
};

/// Concurrent messages.
struct StagePlan {
  std::vector<LinkPlan> links;  ///< other ranks, ascending
  std::optional<SelfPlan> self;
  /// Forward: all periodic copies of some groups, instead of `repeat`. wrap_owned copies owned
  /// cells at the beginning, wrap the rest at the end.
  Program wrap_owned, wrap;
};

class Executor;

/// Compiled once. Owns the patterns; the caller owns the arrays.
///
/// Stage k consists of stage k of every pattern that has one: single-stage groups travel in the
/// first stage. All ranks have equally many stages, so neighbors agree on each message's contents.
struct Plan {
  struct Number {
    int group = 0, field = 0;  ///< within the group
  };
  std::vector<std::shared_ptr<const Pattern>> patterns;  ///< of the groups, concatenated
  std::vector<std::vector<Box>> reaches;  ///< per pattern and block: box of reads and writes
  std::vector<Field> fields;              ///< `halo`: with the next block's boundary point
  std::vector<HaloWidth> depths;          ///< per field, as passed
  std::vector<Number> numbers;            ///< per field
  std::vector<int> group_of;              ///< per field: index of its pattern
  bool several = false;                   ///< groups were passed: messages name them
  std::vector<int> like;                  ///< per field: first field of this layout
  std::vector<std::byte*> bases;          ///< field by field, block by block
  std::vector<int> first_base;            ///< per field
  std::vector<StagePlan> stages;
  std::shared_ptr<Executor> executor;  ///< runs all copies

  int field_count() const { return fields.size(); }
  const Communicator& communicator() const { return patterns.front()->communicator; }
  /// Pattern and link of a field.
  const Pattern& pattern_of(int f) const { return *patterns[group_of[f]]; }
  const Link& link_of(const Links& links, int f) const { return *links[group_of[f]]; }
  MemorySpace space() const { return fields.empty() ? MemorySpace::host : fields.front().space; }
  /// Index of block `b` of field `f` in `bases`.
  int base_of(int f, int b) const { return first_base[f] + b; }
  /// Replaces the fields' arrays. Programs stay the same.
  void move_to(Bases arrays);
  /// Bytes, and messages, sent to other ranks in one exchange. Local.
  byte_count bytes_sent(Direction direction = Direction::forward) const;
  int messages_sent(Direction direction = Direction::forward) const;
};

/// Additional agreement between ranks in make_plan.
struct PlanTerms {
  TellProperties options = {};       ///< must be equal on all ranks
  std::function<void()> check = {};  ///< throws Error for this rank's mistakes. Local
  std::function<std::vector<std::int64_t>()> record =
      {};                             ///< words for each neighbor. Collective, after agreement
  std::function<int()> threads = {};  ///< that share large copies; called after `check`. Null: 1
};

/// Collective. Throws Error on every rank for: no group; several communicators; fields that do not
/// fit their pattern, or differ between ranks in number, element, components, stagger or depth;
/// fields or blocks that share cells (check_disjoint); links without a partner, or with another
/// shape there.
Plan make_plan(std::vector<Group> groups, const PlanTerms& terms = {});

/// "field 2", or with several groups "field 2 of group 1".
std::string field_name(const Plan& plan, int f);

/// Total of all ghosts of a neighbor's links.
byte_count ghost_bytes(const Plan& plan, const Links& links);

}  // namespace parhelion
