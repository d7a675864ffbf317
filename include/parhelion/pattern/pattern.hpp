// Per neighbor, what is sent and what is received: plain data.
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

/// How a piece is turned between its two ends by the seams that lie between them. Axes are those of
/// the ghosts.
struct SeamTurn {
    bool seam = false;          ///< it lies beyond a seam or on its line
    DimensionSet mirrored = 0;  ///< axes that run backward at the owner
    std::array<std::uint8_t, max_dimensions> axes{0, 1, 2, 3};  ///< the owner's axis for each
    bool exchanges_axes() const { return axes != SeamTurn{}.axes; }
    friend bool operator==(const SeamTurn&, const SeamTurn&) = default;
};

/// Cells of one block that travel together, in the order of the ghosts. Coordinates are global and,
/// for ghosts, continue past an end.
struct BoxPiece {
    std::int32_t block = 0;  ///< on this rank
    Box cells;
    Box owner;  ///< the receiver's owned box seen from here: a field with a narrower halo moves
                ///< cells ∩ grow(owner, width)
    Coordinates shift{0, 0, 0, 0};  ///< ghosts: along axis d, cells + shift, or shift − cells where
                                    ///< it is mirrored, are the owner's coordinates
    SeamTurn turn = {};
    bool at_owner = false;  ///< the cells are the owner's, elsewhere turned

    /// The axis here of an axis of the ghosts, and whether it runs backward.
    int axis(int d) const { return at_owner ? turn.axes[d] : d; }
    bool is_backward(int d) const { return at_owner && (turn.mirrored >> d & 1) != 0; }
    friend bool operator==(const BoxPiece&, const BoxPiece&) = default;
};

/// What one side of a link touches: boxes (structured) or local indices (unstructured), in the
/// order of the message.
struct Selection {
    std::vector<BoxPiece> boxes;
    std::vector<local_index> cells;
    bool empty() const { return boxes.empty() && cells.empty(); }
    friend bool operator==(const Selection&, const Selection&) = default;
};

/// Everything between this rank and one neighbor (possibly itself).
///
/// Entry k (box or index) of `send` here is entry k of `receive` there. The first `unique` entries
/// hold different cells; the others repeat cells of one of them (`duplicate_of` gives its place):
/// the same id asked for twice, or a further periodic image of a ghost. Those travel only in a
/// reverse exchange, where every ghost counts; in a forward exchange the receiver copies them from
/// their first.
struct Link {
    int rank = 0;
    Selection send;     ///< owned cells here that are ghosts there
    Selection receive;  ///< ghosts here that are owned there
    local_index send_unique = 0, receive_unique = 0;
    std::vector<local_index> send_duplicate_of, receive_duplicate_of;
    friend bool operator==(const Link&, const Link&) = default;
};

/// Links in ascending order of rank. A standard pattern has one stage, a staged one a stage per
/// dimension.
using Stage = std::vector<Link>;

/// Global ids of a rank's cells, for messages to people.
struct CellIds {
    global_index first = -1;          ///< of consecutive owned ids, else −1
    std::vector<global_index> owned;  ///< where they are not consecutive
    std::vector<global_index> ghosts;
};

/// A pattern holds no addresses and no types: it can be printed, saved, loaded, checked, and shared
/// by exchanges.
struct Pattern {
    Communicator communicator;
    int dimensions = 0;  ///< 0: indexed
    std::vector<Box>
        blocks;  ///< owned boxes (structured), with the layers beyond an end that this rank owns
    HaloWidth halo;  ///< structured: of ghosts, the points that the next block owns among them
    local_index owned = 0;   ///< cells (indexed)
    local_index ghosts = 0;  ///< cells (indexed)
    std::vector<Stage> stages;
    Stagger stagger = {};  ///< structured: of the fields that it is for
    HaloWidth ends =
        0;  ///< structured: layers beyond ends that are not periodic which the ranks there own
    std::shared_ptr<const CellIds> ids = {};  ///< indexed; null in a pattern that was loaded
    bool interleaved = false;  ///< indexed: cells lie among others in arrays, whose cells the
                               ///< counts are; the maker checks that no two share memory

    bool indexed() const { return dimensions == 0; }
};

class CartesianDomain;
class IndexedDomain;

/// Local: a Cartesian pattern follows from the domain alone, which may be one of points
/// (CartesianDomain::staggered).
Pattern build_pattern(const CartesianDomain& domain);
/// The same for fields of another depth: where the domain's boundary is owned, so many layers
/// beyond the ends are. Local.
Pattern build_pattern(const CartesianDomain& domain, const HaloWidth& ends);

/// Collective: owners learn who reads their cells by sparse consensus.
Pattern build_pattern(const IndexedDomain& domain);

/// Cells that this rank sends to others (not to itself) in a forward exchange, over all stages.
/// Local.
global_index cells_sent(const Pattern& pattern);

/// Ranks other than this one with which it exchanges. Local.
std::vector<int> neighbor_ranks(const Pattern& pattern);

/// A few lines for people. Local.
std::string describe(const Pattern& pattern);

/// Checks this rank's part alone: indices in range, boxes inside owned cells or halo, ghosts
/// written once. Local. Throws Error naming the link and entry.
void check_local(const Pattern& pattern);

/// Collective. check_local on every rank, then compares each link with the neighbor's view of it.
/// Throws Error on every rank when a link has no partner or the two sides differ in number or
/// shape.
void verify(const Pattern& pattern);

}  // namespace parhelion
