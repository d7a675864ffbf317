// The halo exchange.
#pragma once

#include "parhelion/core/options.h"
#include "parhelion/exchange/stale.hpp"
#include "parhelion/exchange/step.hpp"
#include "parhelion/plan/executor.hpp"
#include "parhelion/plan/only.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// Options, documented in core/options.h.
struct ExchangeOptions {
  PHL_EXCHANGE_OPTIONS(PHL_CPP_OPTION)
};

/// The `timeout_s` of `collectively` for set-up with these options: 0 for the environment's limit,
/// 30 s if they ask for checks and there is no other. Local.
double setup_limit(const ExchangeOptions& options);

/// A view of an array, or a vector of views: an argument of a call.
template <class T>
concept Views = std::constructible_from<ArrayList, const T&>;

/// Updates the ghosts of fields (forward), or combines ghosts into their owners (reverse).
///
/// Construction is collective: it compiles the plan for the fields' layouts and sets up transports.
/// The caller owns the arrays. A call exchanges those of the construction, or others of the same
/// layouts (element, components, strides, halo), each rank its own, without messages or set-up.
/// From begin to end, arrays must not move, and the caller must not write owned cells or access
/// ghosts (reverse: not access owned cells that are ghosts elsewhere, not write ghosts). Every rank
/// begins and ends an exchange equally often; different ones may be under way at once. end waits
/// only for neighbors, begin for no rank: after begin a rank may do anything (exceptions:
/// docs/transports.md, "After begin"). Calls do not allocate, except the first begin that defers a
/// send, and transports that meet a new array ("Arrays at the call" there). Errors: see make_plan;
/// an unknown or unavailable transport; begin while under way, end before begin; timeout; arrays of
/// another layout or that overlap: then nothing has begun. After a timeout or a lost neighbor the
/// exchange must not be used again, and MPI may still read arrays that are not node-shared: free
/// them after MPI_Finalize, or never.
///
///     Exchange exchange{domain, {view(domain, u), view(domain, v)}};
///     auto step = exchange.begin();
///     update_interior(u);
///     step.end();
///     std::swap(u, u_before);
///     exchange(view(domain, u), view(domain, v));
///
/// Fields on cells and on points of one grid (Field::stagger) travel together. So do groups: fields
/// of several patterns on one communicator, Cartesian or indexed.
///
///     Exchange both{{{cells, {view(cell_domain, p)}}, {nodes, {view(node_domain, x)}}}};
class Exchange {
  struct Impl;

 public:
  Exchange(std::vector<Group> groups, ExchangeOptions options = {});
  Exchange(Pattern pattern, std::vector<Field> fields, ExchangeOptions options = {});
  /// Fields on cells and on points of one grid; builds a pattern for each stagger.
  Exchange(const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options = {});
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  using Step = parhelion::Step;

  /// Forward: owner → ghost. `arrays`: a view for each field, in order, or a vector of them;
  /// none: the arrays of the construction.
  template <Views... Arrays>
  [[nodiscard]] Step begin(const Arrays&... arrays) {
    return begin_with(Direction::forward, Reduction::replace, ArrayList(arrays...));
  }
  /// With a queue of the executor of the plan's memory: copies run after the work queued so far;
  /// a message is sent once it is packed.
  template <Views... Arrays>
  [[nodiscard]] Step begin(Queue& queue, const Arrays&... arrays) {
    return begin_with(Direction::forward, Reduction::replace, ArrayList(arrays...), &queue);
  }
  template <Views... Arrays>
  void operator()(const Arrays&... arrays) {
    run_with(Direction::forward, Reduction::replace, ArrayList(arrays...));
  }
  template <Views... Arrays>
  void operator()(Queue& queue, const Arrays&... arrays) {
    run_with(Direction::forward, Reduction::replace, ArrayList(arrays...), &queue);
  }

  /// Reverse: combines every ghost into its owner's value in a fixed order (by rank, then pattern
  /// order): reproducible bit for bit. With Reduction::sum, the adjoint of forward. Ghosts keep
  /// their values, except with the algorithm by_dimension. Errors: a reduction that the elements do
  /// not support.
  template <Views... Arrays>
  [[nodiscard]] Step begin_reverse(Reduction reduction, const Arrays&... arrays) {
    return begin_with(Direction::reverse, reduction, ArrayList(arrays...));
  }
  template <Views... Arrays>
  [[nodiscard]] Step begin_reverse(Queue& queue, Reduction reduction, const Arrays&... arrays) {
    return begin_with(Direction::reverse, reduction, ArrayList(arrays...), &queue);
  }
  [[nodiscard]] Step begin_reverse() { return begin_reverse(Reduction::sum); }
  template <Views... Arrays>
  void reverse(Reduction reduction, const Arrays&... arrays) {
    run_with(Direction::reverse, reduction, ArrayList(arrays...));
  }
  template <Views... Arrays>
  void reverse(Queue& queue, Reduction reduction, const Arrays&... arrays) {
    run_with(Direction::reverse, reduction, ArrayList(arrays...), &queue);
  }
  void reverse() { reverse(Reduction::sum); }

  /// The same in either direction, with or without a queue. Forward ignores the reduction.
  [[nodiscard]] Step begin_with(
      Direction direction, Reduction reduction, const ArrayList& arrays, Queue* queue = nullptr);
  void run_with(
      Direction direction, Reduction reduction, const ArrayList& arrays, Queue* queue = nullptr);

  /// The exchange of some of the fields, a smaller depth, or both. It takes arrays for its
  /// fields, in that order, and may be under way together with the whole and with subsets that
  /// share no cells with it. Local. Its first use, or `prepare`, is collective and creates its
  /// transports, those of the whole, without benchmarks. Equal subsets are one exchange, found
  /// again without messages, and up to 16 fields without memory. It lives until the whole and all
  /// handles are gone. Errors: unknown or repeated fields; a depth beyond the halos.
  ///
  ///     exchange.only({.fields = {0, 2}, .depth = 1})(view(u), view(w));
  Exchange only(const Only& subset) const;
  /// Collective: sets up a subset as its first use does; does nothing if that is done. Errors:
  /// ranks that name different subsets.
  template <Views... Arrays>
  void prepare(const Arrays&... arrays) {
    prepare_with(ArrayList(arrays...));
  }

  /// Collective: `auto` benchmarks and chooses again, after a change of cores or load, and takes
  /// as long as construction. `arrays` as in a call; their ghosts keep their values. The next use
  /// of each subset is collective. A transport chosen by name stays. Errors: the exchange or a
  /// subset is under way; it is a subset; errors of a transport.
  template <Views... Arrays>
  void retune(const Arrays&... arrays) {
    retune_with(ArrayList(arrays...));
  }

  /// Collective. The ghosts of this rank, among those that forward fills, that differ from their
  /// owners bytewise. `arrays` as in a call, not written. The first call allocates as much memory
  /// as the arrays take, and sets up an exchange over MPI. Errors: under way; arrays in device
  /// memory; subsets that differ between ranks.
  template <Views... Arrays>
  StaleGhosts stale(const Arrays&... arrays) {
    return stale_with(ArrayList(arrays...));
  }
  /// Collective. Throws Error on every rank if any rank has stale ghosts, with the first one of
  /// the lowest such rank.
  template <Views... Arrays>
  void check(const Arrays&... arrays) {
    check_with(ArrayList(arrays...));
  }

  /// Ends the exchange under way; waits for the neighbors.
  void end();
  /// The same, without waiting for this rank's copies: work queued afterwards runs after them.
  void end(Queue& queue);
  bool under_way() const;

  /// Reason why a call of this direction on this rank cannot take these arrays (alignment, kind
  /// of memory); empty if it can. Local. Errors: under way; an unprepared subset.
  std::string refusal(Direction direction, const ArrayList& arrays);

  const Plan& plan() const;
  /// Name of the chosen transport: "mpi", "shared+mpi", …
  std::string transport() const;
  /// Traffic from this rank's node to each other node in a forward exchange, aggregated and
  /// without aggregation; empty if no transport aggregates. Local.
  std::vector<NodeTraffic> node_traffic() const;
  /// Human-readable: the transport for each neighbor, and its measurements.
  std::string explain() const;

 private:
  explicit Exchange(std::shared_ptr<Impl> impl);
  void prepare_with(const ArrayList& arrays);
  void retune_with(const ArrayList& arrays);
  StaleGhosts stale_with(const ArrayList& arrays);
  void check_with(const ArrayList& arrays);

  std::shared_ptr<Impl> impl_;
};

}  // namespace parhelion
