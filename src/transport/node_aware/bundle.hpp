// A rank's values for another node's ranks, each cell once, and where those find their ghosts.
#pragma once

#include <deque>
#include <vector>

#include "parhelion/plan/executor.hpp"
#include "parhelion/plan/plan.hpp"
#include "pattern/words.hpp"

namespace parhelion {

/// Copies from a bundle, from `offset`, to this rank's arrays.
struct FromBundle {
  byte_count offset = 0;
  Program program;
};

/// One rank's part of a message between nodes, in one direction.
///
/// Forward: for each field, the cells that are ghosts on the other node, each once. Overlapping
/// boxes are cut into disjoint ones; index lists are united. Reverse, and forward where a seam
/// exchanges axes: the concatenated messages to those ranks; in reverse each value counts.
class Bundle {
 public:
  /// `links`: all links to one node. Local.
  Bundle(const Plan& plan, Direction direction, std::vector<const LinkPlan*> links);

  byte_count bytes() const { return bytes_; }
  /// Of the plan's bundles: what their values need, no more, to avoid padding.
  static byte_count alignment(const Plan& plan, Direction direction);
  void pack(Queue& queue, Bases arrays, std::byte* to) const;
  /// Writes what link `i`'s neighbor needs to unpack the bundle.
  void describe(Words& header, std::size_t i) const;
  /// After all `describe`: frees what only neighbors need.
  void forget_where();
  /// Reads a neighbor's description. The copies refer to `lists`, which must outlive them.
  static FromBundle read(const Plan& plan, Direction direction, const LinkPlan& link,
      WordReader& header, std::deque<std::vector<local_index>>& lists);

 private:
  // Part of an entry in one of the bundle's disjoint boxes (pieces).
  struct Share {
    Box cells;          // relative to the entry's box
    Box in_piece;       // relative to the piece
    Box piece;          // from 0
    byte_count before;  // cells before the piece
  };
  struct Where {
    std::vector<std::vector<Share>> shares;  // by entry
    std::vector<local_index> places;         // indexed, by entry
  };
  // The cells of all fields with equal pattern and depth.
  struct Cells {
    struct Piece {
      std::int32_t block;
      Box box;
      byte_count before;
    };
    int group;
    HaloWidth halo;
    std::vector<Piece> pieces;
    Selection united;          // indexed
    std::vector<Where> where;  // by link
    byte_count count = 0;
  };
  struct Part {
    std::size_t cells;
    byte_count begin;
  };

  void add_messages();
  std::size_t cells_of(const Plan& plan, int f);
  void unite_boxes(const Plan& plan, int f, Cells& cells) const;
  static void share(
      Cells& cells, std::int32_t block, const Box& wanted, std::vector<Share>& shares);
  void unite_lists(Cells& cells) const;
  void add_field(const Plan& plan, int f);
  static void add_boxes(Program& program, const Plan& plan, int f, const LinkPlan& link,
      const Where& where, byte_count begin);

  std::vector<const LinkPlan*> links_;
  Direction direction_;
  bool united_;
  byte_count bytes_ = 0;
  std::vector<Cells> cells_;
  std::vector<Part> parts_;          // united: by field
  Program program_;                  // united
  std::vector<byte_count> offsets_;  // else: by link
};

}  // namespace parhelion
