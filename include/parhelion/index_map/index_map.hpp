// An indexed domain together with all that is needed to exchange whatever arrays are passed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/cell_values.hpp"
#include "parhelion/index_map/places.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// The cells that one neighbor and this rank exchange, by their numbers in arrays.
struct NeighborCells {
    int rank = 0;
    std::vector<local_index> cells;
};

/// Who owns what, and its exchanges for arrays that are named at each call. Local numbering: owned
/// cells, then ghosts. Copies are the same map. Making one is collective.
///
/// A call takes any number of arrays, of different elements if need be, and sends one message per
/// neighbor for all of them. The first call for a list of elements and components compiles an
/// exchange and is collective; others wait for neighbors only and allocate nothing. Arrays whose
/// cells lie next to each other are exchanged in place, in node-shared memory straight; others are
/// copied by way of memory of the map's (another stride than last time costs a look at all cells).
/// Every rank makes the same calls in the same order. Errors, of the rank that passes them, at a
/// collective call of every rank: arrays that share memory, or have too few cells.
///
///     IndexMap map = IndexMap::pull(1000, {2005, 17});   // owns 1000 cells, reads these two
///     std::vector<double> a(map.size()), b(map.size());
///     std::vector<std::int32_t> c(3 * map.size());
///     map.forward({a, b, {c, 3}});                       // three components per cell
class IndexMap {
public:
    /// Builds the pattern. The options are those of the map's exchanges.
    explicit IndexMap(IndexedDomain domain, ExchangeOptions options = {});

    /// The reader decides. Ranks own blocks of cells in rank order. Errors: those of IndexedDomain.
    static IndexMap pull(global_index owned, std::vector<global_index> ghosts,
                         Communicator comm = MPI_COMM_WORLD);

    /// The owner decides: owned cell `cells[i]` becomes a ghost on `ranks[i]`. Ghosts stand in the
    /// order of the ranks that sent them, those of one rank in the order in which it named them;
    /// `ghost_ids` tells which ones came. Errors (on every rank): cells or ranks that do not exist,
    /// lists of different lengths.
    static IndexMap push(global_index owned, std::span<const local_index> cells,
                         std::span<const int> ranks, Communicator comm = MPI_COMM_WORLD);
    /// The same with the ownership of `owners`, whose ghosts do not matter.
    static IndexMap push(const IndexedDomain& owners, std::span<const local_index> cells,
                         std::span<const int> ranks);

    /// For codes without global ids. Each rank lists, for each neighbor, the points that both have,
    /// by their numbers in its arrays, in an order that is the same on both; a point of several
    /// ranks is in several lists, whose union counts. Collective. The map has the listed points
    /// alone, with places (see `placed`): this rank owns those of which it is the lowest holder, in
    /// ascending order of place, and the others are ghosts. Errors (on every rank): lists of a pair
    /// of ranks of different lengths, or one alone; a rank that is listed twice, or this one; a
    /// point that is twice in a list, or that the lists make the same as another point of its rank.
    ///
    ///     auto nodes = IndexMap::from_neighbor_lists({{left, {0, 1}}, {right, {8, 9}}});
    ///     nodes.sum_shared(force);
    static IndexMap from_neighbor_lists(std::span<const NeighborCells> shared,
                                        Communicator comm = MPI_COMM_WORLD, Places extents = {},
                                        ExchangeOptions options = {});
    /// The same of lists of cells to send and to receive, of which entry k of one is entry k of the
    /// other; this rank may be a neighbor. Errors (on every rank), besides: a cell that is received
    /// twice, or received and sent.
    static IndexMap from_neighbor_lists(std::span<const NeighborCells> sent,
                                        std::span<const NeighborCells> received,
                                        Communicator comm = MPI_COMM_WORLD, Places extents = {},
                                        ExchangeOptions options = {});

    /// The map of the same cells for arrays as they are: owned cells and ghosts lie at these
    /// places, among any others. Collective. Arrays may have any strides (`values_in`,
    /// `CellValues::axes`) and are exchanged in place; those of a first call for some elements and
    /// components decide on each rank which layout is the fast one. Forward and reverse exchanges
    /// in two halves copy cells by way of memory of the map's. Errors (on every rank): those of
    /// check_places.
    IndexMap placed(Places places) const;
    /// None: arrays have owned cells, then ghosts.
    const std::optional<Places>& places() const;

    /// The ghosts that count alone: a map whose forward, reverse and halves of them leave all other
    /// ghosts as they are, and send as much less, by MPI. Collective. `mask` is an array of this
    /// map with one integer or bool per cell, not 0 for ghosts that count; owned cells do not
    /// matter. It has no sums of shared points. Errors (on every rank): a mask of other elements,
    /// or one that does not fit.
    ///
    ///     IndexMap icy = map.only(mask);   // std::vector<std::uint8_t>, of map.size() cells
    ///     icy.forward({a, b});
    ///     icy.update(mask);                // of the next step
    IndexMap only(const CellValues& mask) const {
        return only([&] { return mask; });
    }
    /// Other ghosts count in a subset from now on. Collective: a message with a bit per ghost to
    /// each neighbor, and one agreement; allocates nothing. Errors (on every rank), besides those
    /// of `only`: a map that is no subset; an exchange of it is under way.
    void update(const CellValues& mask) const {
        update([&] { return mask; });
    }
    /// The same, of a mask that is read in the call: all ranks are told of errors in it.
    using ReadMask = std::function<CellValues()>;
    IndexMap only(const ReadMask& read) const;
    void update(const ReadMask& read) const;
    bool is_subset() const;

    const IndexedDomain& domain() const;
    const Pattern& pattern() const;
    const Communicator& communicator() const { return domain().communicator(); }
    local_index owned() const { return domain().owned(); }
    local_index ghosts() const { return domain().ghosts(); }
    local_index size() const { return domain().size(); }

    /// Collective: what the first call of `forward`, `reverse` or their halves with such arrays
    /// would do, or of `sum_shared` and its like. Nothing where that is done and idle.
    void prepare(const CellArrays& arrays) const;
    void prepare_shared(const CellArrays& arrays) const;

    /// Owner → ghost. After begin the owned values may change again; the ghosts are written by
    /// `end`. Exchanges of different arrays may be under way at once.
    void forward(const CellArrays& arrays) const;
    void begin_forward(const CellArrays& arrays) const;

    /// Ghost → owner, combined in a fixed order (by rank, then by id); with a sum the adjoint of
    /// forward. After begin the ghosts may change; the owned values are written by end, and may
    /// change until then. Errors: a reduction that some elements do not have.
    void reverse(const CellArrays& arrays, Reduction reduction) const;
    void begin_reverse(const CellArrays& arrays, Reduction reduction) const;

    /// Points that several ranks hold, as owner or as ghosts: each of them gets the sum of all
    /// their values, in one round of messages, added in ascending order of rank, so that holders,
    /// runs and transports agree bit for bit. Shared points must not be written from begin to end.
    /// The first call finds out who holds what, and is collective. Errors: a rank that holds a
    /// point twice (on every rank); a reduction that some elements do not have.
    void sum_shared(const CellArrays& arrays) const { reduce_shared(arrays, Reduction::sum); }
    /// The same with another reduction; `replace` gives the value of the last rank that holds a
    /// point.
    void reduce_shared(const CellArrays& arrays, Reduction reduction) const;
    void begin_reduce_shared(const CellArrays& arrays, Reduction reduction) const;
    /// How such arrays are combined: points, holders, messages, and what reverse and forward would
    /// take. Local, after the first call.
    std::string explain_shared(const CellArrays& arrays) const;

    bool under_way() const;
    /// Ends what was begun with these arrays. Errors: nothing is under way with them.
    void end(const CellArrays& arrays) const { step(arrays).end(); }
    /// What was begun with these arrays, to be ended by the step instead. Local.
    [[nodiscard]] Step step(const CellArrays& arrays) const;
    /// What moves arrays like these, null before the first call with such. Local.
    const Exchange* exchange(const CellArrays& arrays) const;

    /// The same map, not an equal one.
    friend bool operator==(const IndexMap& a, const IndexMap& b) { return a.state_ == b.state_; }

private:
    IndexMap(IndexedDomain domain, Places places, ExchangeOptions options);

    struct State;
    explicit IndexMap(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace parhelion
