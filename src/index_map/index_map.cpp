#include "parhelion/index_map/index_map.hpp"

#include "core/concat.hpp"
#include "exchange/selection.hpp"
#include "index_map/cell_footprint.hpp"
#include "index_map/map_exchange.hpp"
#include "index_map/masked_exchange.hpp"
#include "index_map/shared_reduction.hpp"
#include "plan/array_block.hpp"
#include "plan/device/driver.hpp"

namespace parhelion {

struct IndexMap::State {
  IndexedDomain domain;
  Pattern pattern;
  ExchangeOptions options;
  std::shared_ptr<const SharedPoints> points;  // set on first use
  std::vector<std::unique_ptr<CellsOperation>> operations;
  std::vector<CellValues> arrays;  // of a call
  std::optional<Places> places;
  std::vector<local_index> at;                 // with places: those of all cells
  global_index array_cells = 0;                // with places: required size of arrays
  std::unique_ptr<MaskedCells> counting = {};  // of a subset

  State(IndexedDomain of, ExchangeOptions with, std::optional<Places> placed)
      : domain(std::move(of)), pattern(build_pattern(domain)), options(std::move(with)),
        places(std::move(placed)) {
    if (places) {
      check_places(*places, domain.owned(), domain.ghosts());
      at = places->owned;
      at.insert(at.end(), places->ghosts.begin(), places->ghosts.end());
      for (const local_index place : at)
        array_cells = std::max(array_cells, global_index{place} + 1);
    }
    arrays.reserve(usual_arrays);
    device::find_driver();
  }
  // A subset of `whole` with no active ghosts.
  State(const State& whole)
      : domain(whole.domain), pattern(whole.pattern), options(whole.options), places(whole.places),
        at(whole.at), array_cells(whole.array_cells),
        counting(std::make_unique<MaskedCells>(pattern, places_or_null())) {
    arrays.reserve(usual_arrays);
  }
  static constexpr std::size_t usual_arrays = 16;
  static constexpr const char* first_exchange =
      "forward, reverse or prepare, the first of such arrays by an index map";
  // Collective.
  static std::shared_ptr<State> make(const char* call, IndexedDomain domain,
      ExchangeOptions options, std::optional<Places> places) {
    const Communicator comm = domain.communicator();
    return collectively(comm, call, setup_limit(options), [&] {
      require_transport(options);
      return std::make_shared<State>(std::move(domain), std::move(options), std::move(places));
    });
  }

  // Sets `ghosts` that follow the owned cells. More arrays than before: all ranks grow their lists,
  // collectively.
  CellArrays complete(CellArrays given, Reduction reduction = Reduction::replace) {
    for (const CellValues& array : given) require_reducible(array.element, reduction);
    if (given.size() > arrays.capacity())
      collectively(pattern.communicator, first_exchange, setup_limit(options),
          [&] { arrays.reserve(given.size()); });
    arrays.assign(given.begin(), given.end());
    if (places) {
      for (CellValues& array : arrays) {
        if (array.ghosts.first == nullptr) array.ghosts = array.owned;
        if (array.component_stride == 0) array.component_stride = array.element.size;
        if (array.axes[0].extent == 0) array.axes[0] = {array_cells, array.owned.stride};
      }
      return arrays;
    }
    for (CellValues& array : arrays)
      if (array.ghosts.first == nullptr && array.owned.first != nullptr)
        array.ghosts = {
            array.owned.first + domain.owned() * array.owned.stride, array.owned.stride};
    return arrays;
  }

  CellsOperation* find(auto&& condition) const {
    const auto found =
        std::ranges::find_if(operations, [&](const auto& each) { return condition(*each); });
    return found == operations.end() ? nullptr : found->get();
  }
  const std::vector<local_index>* places_or_null() const { return places ? &at : nullptr; }
  CellsOperation& idle(CellArrays given, MapCall call, bool in_halves = false) {
    const bool sums = call == MapCall::reduce_shared;
    if (counting && sums) refuse("a subset has no sums of shared points: use the original map");
    if (CellsOperation* known = find([&](const CellsOperation& each) {
          return !each.under_way() && each.fits(given, call, in_halves);
        })) {
      check(given);
      return *known;
    }
    auto found = points;  // kept if all ranks succeed
    const auto make = [&]() -> std::unique_ptr<CellsOperation> {
      if (counting)
        return std::make_unique<MaskedExchange>(*counting, places_or_null(), given, options);
      if (!sums)
        return std::make_unique<MapExchange>(pattern, places_or_null(), in_halves, given, options);
      if (!found) found = std::make_shared<const SharedPoints>(find_shared_points(domain));
      return std::make_unique<SharedReduction>(
          *found, domain.owned(), given, options, places_or_null());
    };
    auto made = collectively(pattern.communicator,
        sums ? "sum_shared, reduce_shared or prepare_shared, the first of such arrays by an index "
               "map"
             : first_exchange,
        setup_limit(options), [&] {
          check(given);
          operations.reserve(operations.size() + 1);
          auto each = make();
          // Transports allocate more in their first exchange: here, an error is everybody's.
          if (call == MapCall::forward) each->run(given, call, Reduction::replace);
          return each;
        });
    points = std::move(found);
    return *operations.emplace_back(std::move(made));
  }
  void run(CellArrays given, MapCall call, Reduction reduction) {
    const CellArrays all = complete(given, reduction);
    idle(all, call).run(all, call, reduction);
  }
  void begin(CellArrays given, MapCall call, Reduction reduction) {
    const CellArrays all = complete(given, reduction);
    idle(all, call, true).begin(all, call, reduction);
  }

  void check(CellArrays given) const {
    if (given.empty()) refuse("no arrays were passed: name those whose ghosts are exchanged");
    for (const CellValues& array : given) check_size(array);
    const std::size_t parts = places ? 1 : 2;  // owned cells, ghosts
    for (std::size_t i = 0; i < parts * given.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (overlap(part(given, i), part(given, j))) refuse_overlap(j / parts, i / parts);
  }
  [[noreturn]] static void refuse_overlap(std::size_t one, std::size_t other) {
    if (one == other)
      refuse(
          "the arrays of owned cells and of ghosts share memory: pass arrays that do not "
          "overlap, or one that holds the ghosts behind the owned cells");
    refuse("arrays ", one, " and ", other,
        " share memory: pass every array once, and arrays that do not overlap");
  }
  Footprint part(CellArrays given, std::size_t i) const {
    if (!places) {
      const CellValues& array = given[i / 2];
      return i % 2 == 0 ? footprint(array.owned, domain.owned(), array.width())
                        : footprint(array.ghosts, domain.ghosts(), array.width());
    }
    const CellValues& array = given[i];
    Footprint cells = footprint(array.owned, at.empty() ? 0 : array.components, array.element.size);
    cells.stride[0] = array.component_stride;
    for (const CellAxis& axis : array.axes)
      if (axis.extent > 0)
        cells.count[cells.dims] = axis.extent, cells.stride[cells.dims++] = axis.stride;
    return cells;
  }
  void check_placed_size(const CellValues& array) const {
    global_index cells = 1;
    for (const CellAxis& axis : array.axes)
      if (axis.extent > 0) cells *= axis.extent;
    if (array.elements != CellValues::untold) cells = array.elements / array.components;
    if (cells < array_cells)
      refuse("an array has ", cells, " cells, but the map has places up to ", array_cells - 1,
          ": pass arrays that have them all");
    if (array.ghosts != array.owned)
      refuse(
          "a separate array of ghosts was passed, but the map has places for ghosts: pass one "
          "array of all cells");
  }
  void check_size(const CellValues& array) const {
    if (array.element.size < 1 || array.components < 1)
      refuse("cells of no size: give at least 1 component of at least 1 byte");
    require_on_host(array.owned.first, true);
    require_on_host(array.ghosts.first, true);
    const global_index needed = global_index{domain.size()} * array.components;
    if (places) check_placed_size(array);
    else if (array.elements != CellValues::untold && array.elements != needed)
      refuse("an array has ", array.elements, " elements and the map's ", domain.size(),
          " cells take ", needed, ": make them equal");
    if ((array.owned.first == nullptr && domain.owned() > 0) ||
        (array.ghosts.first == nullptr && domain.ghosts() > 0))
      refuse("an array is a null pointer: pass the array whose ghosts are exchanged");
  }
  void update(const ReadMask& read) {
    if (!counting)
      refuse("the map is not a subset, so it has no mask to update: make one by `only`");
    counting->save();
    if (is_under_way())
      refuse("an exchange of the subset is under way: end it before its mask changes");
    const CellArrays given = complete(read());
    check(given);
    counting->update(given.front());
  }
  bool is_under_way() const {
    return find([](const Operation& each) { return each.under_way(); }) != nullptr;
  }
};

IndexMap::IndexMap(IndexedDomain domain, ExchangeOptions options)
    : state_(State::make("IndexMap", std::move(domain), std::move(options), {})) {}

IndexMap::IndexMap(IndexedDomain domain, Places places, ExchangeOptions options)
    : state_(State::make(
          "a map with places", std::move(domain), std::move(options), std::move(places))) {}

IndexMap IndexMap::placed(Places places) const {
  return collectively(communicator(), "placed", setup_limit(state_->options), [&] {
    refuse_subset();
    return IndexMap(domain(), std::move(places), state_->options);
  });
}

IndexMap IndexMap::only(const ReadMask& read) const {
  return IndexMap(
      collectively(communicator(), "a subset of an index map", setup_limit(state_->options), [&] {
        refuse_subset();
        auto made = std::make_shared<State>(*state_);
        made->update(read);
        return made;
      }));
}

void IndexMap::update(const ReadMask& read) const {
  try {
    collectively(communicator(), "the update of a subset of an index map",
        setup_limit(state_->options), [&] { state_->update(read); });
  } catch (...) {
    if (state_->counting) state_->counting->restore();
    throw;
  }
}

bool IndexMap::is_subset() const { return state_->counting != nullptr; }
void IndexMap::refuse_subset() const {
  if (is_subset())
    refuse("the map is a subset, and its mask would be ignored: use the original map");
}

const std::optional<Places>& IndexMap::places() const { return state_->places; }

const IndexedDomain& IndexMap::domain() const { return state_->domain; }
const Pattern& IndexMap::pattern() const { return state_->pattern; }

// What fits reverse calls fits all forward calls.
void IndexMap::prepare(const CellArrays& arrays) const {
  const CellArrays all = state_->complete(arrays);
  state_->idle(all, MapCall::reverse);
  if (places()) state_->idle(all, MapCall::reverse, true);
}
void IndexMap::prepare_shared(const CellArrays& arrays) const {
  state_->idle(state_->complete(arrays), MapCall::reduce_shared);
}

void IndexMap::forward(const CellArrays& arrays) const {
  state_->run(arrays, MapCall::forward, Reduction::replace);
}
void IndexMap::begin_forward(const CellArrays& arrays) const {
  state_->begin(arrays, MapCall::forward, Reduction::replace);
}
void IndexMap::reverse(const CellArrays& arrays, Reduction reduction) const {
  state_->run(arrays, MapCall::reverse, reduction);
}
void IndexMap::begin_reverse(const CellArrays& arrays, Reduction reduction) const {
  state_->begin(arrays, MapCall::reverse, reduction);
}
void IndexMap::reduce_shared(const CellArrays& arrays, Reduction reduction) const {
  state_->run(arrays, MapCall::reduce_shared, reduction);
}
void IndexMap::begin_reduce_shared(const CellArrays& arrays, Reduction reduction) const {
  state_->begin(arrays, MapCall::reduce_shared, reduction);
}

std::string IndexMap::explain_shared(const CellArrays& arrays) const {
  const CellsOperation* const found = state_->find(
      [&](const CellsOperation& each) { return each.fits(arrays, MapCall::reduce_shared, false); });
  if (found == nullptr)
    refuse("shared points of such arrays have not been combined yet: call sum_shared first");
  const Plan& plan = found->exchange()->plan();
  std::size_t messages = 0;
  for (const Link& link : state_->pattern.stages[0])
    if (link.rank != communicator().rank())
      messages += !link.send.cells.empty() + !link.receive.cells.empty();
  return concat(state_->points->points.size(), " of ", size(), " points are shared, by up to ",
      state_->points->most_holders, " ranks: 1 round, ", plan.messages_sent(), " messages of ",
      plan.bytes_sent(), " bytes together from this rank (reverse and forward: 2 rounds, ",
      messages, " messages)\n", found->exchange()->explain());
}

bool IndexMap::under_way() const { return state_->is_under_way(); }

Step IndexMap::step(const CellArrays& arrays) const {
  const CellArrays all = state_->complete(arrays);
  Operation* found = nullptr;
  for (const bool sums : {true, false})
    if (found == nullptr)
      found = state_->find([&](const CellsOperation& each) {
        return each.moves(all) && (each.call() == MapCall::reduce_shared) == sums;
      });
  if (found == nullptr)
    refuse("no exchange of these arrays is under way: begin one, and end it with the same arrays");
  return Step({state_, found});
}

const Exchange* IndexMap::exchange(const CellArrays& arrays) const {
  const CellsOperation* const known = state_->find(
      [&](const CellsOperation& each) { return each.fits(arrays, MapCall::forward, false); });
  return known == nullptr ? nullptr : known->exchange();
}

}  // namespace parhelion
