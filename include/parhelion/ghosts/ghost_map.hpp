// Which rows a rank owns and which ghost rows it has, for arrays of any layout.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// An indexed domain together with its pattern; any number of arrays share it, whatever their rows look like.
///
/// Local numbering: owned rows, then ghosts. A ghost may be a row that this rank owns itself, and may be asked for twice.
/// Handles are cheap: copies are the same map. Making one is collective.
///
///     auto map = parhelion::GhostMap::pull(1000, {2005, 17});      // these global rows become ghosts, in this order
///     auto map = parhelion::GhostMap::push(1000, {0, 0}, {1, 2});  // owned row 0 becomes a ghost on ranks 1 and 2
class GhostMap {
public:
    explicit GhostMap(IndexedDomain domain);

    /// The reader decides. Ranks own blocks of rows in rank order. Errors: those of IndexedDomain.
    static GhostMap pull(global_index owned, std::vector<global_index> ghosts, Communicator comm = MPI_COMM_WORLD);

    /// The owner decides: owned row `rows[i]` becomes a ghost on `ranks[i]`. Ghosts stand in the order of the ranks that sent
    /// them, those of one rank in the order in which it named them; `ghost_ids` tells which ones came.
    /// Errors (on every rank): rows or ranks that do not exist, lists of different lengths.
    static GhostMap push(global_index owned, std::span<const local_index> rows, std::span<const int> ranks,
                         Communicator comm = MPI_COMM_WORLD);
    /// The same with the ownership of `owners`, whose ghosts do not matter.
    static GhostMap push(const IndexedDomain& owners, std::span<const local_index> rows, std::span<const int> ranks);

    const IndexedDomain& domain() const { return state_->domain; }
    const Pattern& pattern() const { return state_->pattern; }
    const Communicator& communicator() const { return domain().communicator(); }
    local_index owned() const { return domain().owned(); }
    local_index ghosts() const { return domain().ghosts(); }
    local_index size() const { return domain().size(); }

    /// The same map, not an equal one.
    friend bool operator==(const GhostMap& a, const GhostMap& b) { return a.state_ == b.state_; }

private:
    struct State {
        IndexedDomain domain;
        Pattern pattern;
    };
    std::shared_ptr<const State> state_;
};

}  // namespace parhelion
