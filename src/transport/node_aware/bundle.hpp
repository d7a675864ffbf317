// What a rank sends to the ranks of another node, each cell once, and where those find their ghosts
// in it.
#pragma once

#include <deque>
#include <vector>

#include "parhelion/plan/executor.hpp"
#include "parhelion/plan/plan.hpp"
#include "pattern/words.hpp"

namespace parhelion {

/// Copies from a bundle, from `offset` on, to this rank's arrays.
struct FromBundle {
    byte_count offset = 0;
    Program program;
};

/// One rank's part of a message between nodes, in one direction.
///
/// Forward: of each field the different cells that some rank of the other node has as ghosts. Boxes
/// that overlap are cut, so that none holds a cell of another; index lists are united. Reverse: the
/// messages to those ranks, one behind another, since each value counts; forward too where a seam
/// turns axes of a piece.
class Bundle {
public:
    /// The links are those to one node. Local.
    Bundle(const Plan& plan, Direction direction, std::vector<const LinkPlan*> links);

    byte_count bytes() const { return bytes_; }
    /// What bundles of the plan want to begin at multiples of: no more than its values need, for
    /// only cells are to be sent.
    static byte_count alignment(const Plan& plan, Direction direction);
    /// Arrays → the bundle, which begins at `to`.
    void pack(Queue& queue, Bases arrays, std::byte* to) const;
    /// What the neighbor of link `i` (of those given) needs to read it.
    void describe(Words& header, std::size_t i) const;
    /// Once all neighbors have been told, what only they need is given back.
    void forget_where();
    /// Of the bundle that a neighbor has described: copies to this rank's ghosts, or to the owned
    /// values that it combines with. Lists that the program uses are put into `lists` and must
    /// outlive it.
    static FromBundle read(const Plan& plan, Direction direction, const LinkPlan& link,
                           WordReader& header, std::deque<std::vector<local_index>>& lists);

private:
    // Boxes without a cell in common, as they follow each other in the bundle, and for each entry
    // of each link where its cells are.
    struct Piece {
        std::int32_t block;
        Box box;
        byte_count before;  // cells
    };
    struct Share {
        std::size_t piece;
        Box box;
    };
    // Fields of one pattern and depth have the same cells.
    struct Cells {
        int group;
        HaloWidth halo;
        std::vector<Piece> pieces;
        std::vector<std::vector<std::vector<Share>>> shares;  // by link and entry
        Selection united;                                     // indexed
        std::vector<std::vector<local_index>> places;         // by link and entry, in `united`
        std::vector<std::vector<Box>> wanted;                 // by link: the boxes of its entries
        byte_count count = 0;
    };
    struct Part {
        std::size_t cells;
        byte_count begin;
    };

    void add_fields(const Plan& plan);
    void add_messages();
    std::size_t cells_of(const Plan& plan, int f);
    void unite_boxes(const Plan& plan, const Field& field, Cells& cells) const;
    static void share(Cells& cells, std::int32_t block, const Box& wanted,
                      std::vector<Share>& shares);
    void unite_lists(Cells& cells) const;
    void add_field(const Plan& plan, int f);

    std::vector<const LinkPlan*> links_;
    Direction direction_;
    bool united_;
    byte_count bytes_ = 0;
    std::vector<Cells> cells_;
    std::vector<Part> parts_;          // united: by field
    Program program_;                  // united
    std::vector<byte_count> offsets_;  // else: of each link's message
};

}  // namespace parhelion
