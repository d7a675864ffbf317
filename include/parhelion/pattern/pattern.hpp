// Patterns: which cells each rank sends to and receives from each neighbor.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/box.hpp"

namespace parhelion {

/// Bit d: dimension d.
using DimensionSet = std::uint8_t;
inline bool has(DimensionSet set, int d) { return (set >> d & 1) != 0; }

/// How the seams between the two ends of a piece rotate it. Axes are those of the ghosts.
struct SeamTurn {
  bool seam = false;          ///< beyond a seam, or on its line
  DimensionSet mirrored = 0;  ///< axes that run backward at the owner
  std::int8_t sign = 1;       ///< of fields with sign −1: the product over the crossings; 0: none
  std::array<std::uint8_t, max_dimensions> axes{0, 1, 2, 3};  ///< the owner's axis for each axis
  bool exchanges_axes() const { return axes != SeamTurn{}.axes; }
  friend bool operator==(const SeamTurn&, const SeamTurn&) = default;
};

/// Cells of one block that travel together, in the order of the ghosts. Global coordinates, which
/// continue beyond the ends.
struct BoxPiece {
  std::int32_t block = 0;  ///< on this rank
  Box cells;
  Box owner;  ///< the receiver's owned box in local coordinates: a narrower field moves cells ∩
              ///< grow(owner, width)
  Coordinates shift{0, 0, 0, 0};  ///< ghosts → owner: cells + shift; shift − cells if mirrored
  SeamTurn turn = {};
  bool at_owner = false;  ///< `cells` are the owner's, not the ghosts

  /// Local axis for an axis of the ghosts, and whether it runs backward.
  int axis(int d) const { return at_owner ? turn.axes[d] : d; }
  bool is_backward(int d) const { return at_owner && has(turn.mirrored, d); }
  friend bool operator==(const BoxPiece&, const BoxPiece&) = default;
};

/// One side of a link in message order: boxes (structured) or local indices (unstructured).
struct Selection {
  std::vector<BoxPiece> boxes;
  std::vector<local_index> cells;
  bool empty() const { return boxes.empty() && cells.empty(); }
  friend bool operator==(const Selection&, const Selection&) = default;
};

/// All cells exchanged with one neighbor (possibly this rank).
///
/// Entry k (box or index) of `send` matches entry k of the neighbor's `receive`. The first `unique`
/// entries are distinct; each later one duplicates the entry in `duplicate_of`: an id requested
/// twice, or another periodic copy of a ghost. Duplicates travel only in reverse, where every ghost
/// counts; forward, the receiver copies them.
struct Link {
  int rank = 0;
  Selection send;     ///< cells owned here, ghosts there
  Selection receive;  ///< ghosts here, owned there
  local_index send_unique = 0, receive_unique = 0;
  std::vector<local_index> send_duplicate_of, receive_duplicate_of;

  /// Of a forward message, without duplicates.
  global_index cells_sent() const;
  friend bool operator==(const Link&, const Link&) = default;
};

/// Links in ascending order of rank. Patterns have one stage, or one per dimension.
using Stage = std::vector<Link>;

/// Global ids of a rank's cells, for messages.
struct CellIds {
  global_index first = -1;          ///< first of consecutive owned ids, else −1
  std::vector<global_index> owned;  ///< if not consecutive
  std::vector<global_index> ghosts;
};

/// Made by build_pattern. Holds no addresses or types: exchanges can share it. Changes by hand are
/// not range-checked: an exchange only compares the two ends of links between ranks.
struct Pattern {
  Communicator communicator;
  int dimensions = 0;       ///< 0: indexed
  std::vector<Box> blocks;  ///< structured: owned boxes with owned layers beyond an end
  HaloWidth halo;           ///< structured: ghost width with the next block's boundary points
  local_index owned = 0;    ///< cells (indexed)
  local_index ghosts = 0;   ///< cells (indexed)
  std::vector<Stage> stages;
  Stagger stagger = {};                     ///< structured: of its fields
  HaloWidth ends = 0;                       ///< structured: owned layers beyond non-periodic ends
  std::shared_ptr<const CellIds> ids = {};  ///< indexed; null if unknown
  bool interleaved = false;  ///< indexed: counts include other values between the cells; the
                             ///< maker checks overlaps

  bool indexed() const { return dimensions == 0; }
};

class CartesianDomain;
class IndexedDomain;

/// Pattern of a domain of cells or points (CartesianDomain::staggered). Local.
Pattern build_pattern(const CartesianDomain& domain);
/// For fields of another depth: if the domain's boundary is owned, so are `ends` layers beyond it.
/// Local.
Pattern build_pattern(const CartesianDomain& domain, const HaloWidth& ends);

/// Collective: owners learn their readers by sparse consensus (NBX).
Pattern build_pattern(const IndexedDomain& domain);

/// Cells sent to other ranks in a forward exchange, over all stages. Local.
global_index cells_sent(const Pattern& pattern);

/// Neighbors other than this rank. Local.
std::vector<int> neighbor_ranks(const Pattern& pattern);

/// Human-readable. Local.
std::string describe(const Pattern& pattern);

}  // namespace parhelion
