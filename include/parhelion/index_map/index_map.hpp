// Index maps: an indexed domain with exchanges of arrays on it.
#pragma once

#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/places.hpp"

namespace parhelion {

/// Cells shared with one neighbor, as indices into arrays.
struct NeighborCells {
  int rank = 0;
  std::vector<local_index> cells;
};

/// An indexed domain and its exchanges, whose calls name the arrays: owned cells, then ghosts.
/// Copies refer to the same map. Construction is collective.
///
/// A call takes any number of arrays, also of different elements, and sends one message per
/// neighbor. The first call for a list of elements and components is collective; later ones wait
/// only for neighbors and do not allocate. Arrays with contiguous cells are exchanged in place,
/// node-shared ones with a single copy; others through the map's buffer (a call with a new stride
/// scans all cells). Every rank makes the same calls in the same order. Errors (on the rank that
/// passes them, in collective calls on every rank): arrays that overlap or have too few cells.
///
///     IndexMap map = IndexMap::pull(1000, {2005, 17});   // owns 1000 cells, reads these two
///     std::vector<double> a(map.size()), b(map.size());
///     std::vector<std::int32_t> c(3 * map.size());
///     map.forward({a, b, {c, 3}});                       // three components per cell
class IndexMap {
 public:
  /// `options` apply to the map's exchanges.
  explicit IndexMap(IndexedDomain domain, ExchangeOptions options = {});

  /// The reader names its ghosts; ranks own blocks in rank order. Errors: IndexedDomain's.
  static IndexMap pull(
      global_index owned, std::vector<global_index> ghosts, Communicator comm = MPI_COMM_WORLD);

  /// The owner names the ghosts: owned cell `cells[i]` becomes a ghost on `ranks[i]`. Ghosts are
  /// sorted by owner, then in the owner's order; `ghost_ids` returns them. Errors (on every
  /// rank): invalid cells or ranks, lists of different lengths.
  static IndexMap push(global_index owned, std::span<const local_index> cells,
      std::span<const int> ranks, Communicator comm = MPI_COMM_WORLD);
  /// With the ownership of `owners`, without its ghosts.
  static IndexMap push(
      const IndexedDomain& owners, std::span<const local_index> cells, std::span<const int> ranks);

  /// For codes without global ids. Each rank lists, for each neighbor, the points that both have,
  /// as indices into its arrays, in the same order on both; the union of the lists counts for
  /// points of several ranks. Collective. The map has only these points, with places (see
  /// `placed`), sorted by place; the lowest rank that holds a point owns it. Errors (on every
  /// rank): lists of a pair of ranks that differ in length, or without counterpart; a repeated
  /// rank, or this one; a point that is repeated in a list, or identified with another point of
  /// its rank.
  ///
  ///     std::vector<NeighborCells> lists{{left, {0, 1}}, {right, {8, 9}}};
  ///     auto nodes = IndexMap::from_neighbor_lists(lists);
  ///     nodes.sum_shared(force);
  static IndexMap from_neighbor_lists(std::span<const NeighborCells> shared,
      Communicator comm = MPI_COMM_WORLD, Places extents = {}, ExchangeOptions options = {});
  /// The same from lists of cells to send and to receive, where entry k of one list matches entry
  /// k of its counterpart; this rank may be a neighbor. Further errors (on every rank): a cell
  /// that is received twice, or received and sent.
  static IndexMap from_neighbor_lists(std::span<const NeighborCells> sent,
      std::span<const NeighborCells> received, Communicator comm = MPI_COMM_WORLD,
      Places extents = {}, ExchangeOptions options = {});

  /// The map of the same cells in the program's own arrays, at the given places. Collective.
  /// Arrays may have any strides (`values_in`, `CellValues::axes`) and are exchanged in place; a
  /// rank's first arrays of given elements determine the layout that is optimized. Split
  /// exchanges copy through the map's buffer. Errors (on every rank): those of check_places.
  IndexMap placed(Places places) const;
  /// Empty: arrays have owned cells, then ghosts.
  const std::optional<Places>& places() const;

  /// The subset of ghosts that a mask selects: forward and reverse leave all others unchanged and
  /// send less, over MPI. Collective. `mask`: one integer or bool per cell of this map, nonzero
  /// for the ghosts to keep; owned cells are ignored. No sums of shared points. Errors (on every
  /// rank): a mask of other elements or of wrong size.
  ///
  ///     IndexMap icy = map.only(mask);   // std::vector<std::uint8_t>, of map.size() cells
  ///     icy.forward({a, b});
  ///     icy.update(mask);                // of the next step
  IndexMap only(const CellValues& mask) const {
    return only([&] { return mask; });
  }
  /// Changes the mask of a subset. Collective: one message with a bit per ghost to each neighbor,
  /// and one agreement; does not allocate. Further errors (on every rank; the subset
  /// keeps its mask): the map is not a subset; one of its exchanges is under way.
  void update(const CellValues& mask) const {
    update([&] { return mask; });
  }
  /// With a function that returns the mask; every rank throws its errors.
  using ReadMask = std::function<CellValues()>;
  IndexMap only(const ReadMask& read) const;
  void update(const ReadMask& read) const;
  bool is_subset() const;
  /// Throws Error if the map is a subset, for functions that would ignore its mask. Local.
  void refuse_subset() const;

  const IndexedDomain& domain() const;
  /// With all ghosts, also of a subset.
  const Pattern& pattern() const;
  const Communicator& communicator() const { return domain().communicator(); }
  local_index owned() const { return domain().owned(); }
  local_index ghosts() const { return domain().ghosts(); }
  local_index size() const { return domain().size(); }

  /// Collective: unless done, the set-up of the first `forward` or `reverse` of such arrays;
  /// `prepare_shared`: of `reduce_shared`.
  void prepare(const CellArrays& arrays) const;
  void prepare_shared(const CellArrays& arrays) const;

  /// Owner → ghost. After begin, owned values may change; `end` writes the ghosts. Different
  /// arrays' exchanges may be under way at once.
  void forward(const CellArrays& arrays) const;
  void begin_forward(const CellArrays& arrays) const;

  /// Ghost → owner, combined in a fixed order (by rank, then id); with a sum, the adjoint of
  /// forward. After begin, ghosts may change, and owned values until `end` writes them. Errors: a
  /// reduction that some elements do not support.
  void reverse(const CellArrays& arrays, Reduction reduction) const;
  void begin_reverse(const CellArrays& arrays, Reduction reduction) const;

  /// Every holder of a shared point, owner or ghost, gets the sum of all holders' values, in one
  /// round of messages, added in ascending order of rank: bitwise equal on all holders, runs and
  /// transports. From begin to end, shared points must not be written. The first call is
  /// collective. Errors: a rank that holds a point twice (on every rank); a reduction that some
  /// elements do not support.
  void sum_shared(const CellArrays& arrays) const { reduce_shared(arrays, Reduction::sum); }
  /// With another reduction; `replace` takes the highest rank's value.
  void reduce_shared(const CellArrays& arrays, Reduction reduction) const;
  void begin_reduce_shared(const CellArrays& arrays, Reduction reduction) const;
  /// Human-readable: points, holders and messages, compared with reverse and forward. Local,
  /// after the first call.
  std::string explain_shared(const CellArrays& arrays) const;

  bool under_way() const;
  /// Ends the operation on these arrays. Throws Error if none is under way.
  void end(const CellArrays& arrays) const { step(arrays).end(); }
  /// The operation under way on these arrays; the step ends it instead. Local.
  [[nodiscard]] Step step(const CellArrays& arrays) const;
  /// The exchange for such arrays, null before their first call. Local.
  const Exchange* exchange(const CellArrays& arrays) const;

  /// Compares identity, not contents.
  friend bool operator==(const IndexMap& a, const IndexMap& b) { return a.state_ == b.state_; }

 private:
  IndexMap(IndexedDomain domain, Places places, ExchangeOptions options);

  struct State;
  explicit IndexMap(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace parhelion
