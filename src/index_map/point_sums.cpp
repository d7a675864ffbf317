#include "parhelion/index_map/point_sums.hpp"

#include <exception>

#include "core/concat.hpp"
#include "index_map/shared_reduction.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/index_map/localize.hpp"
#include "pattern/piece_lists.hpp"
#include "plan/array_block.hpp"

namespace parhelion {

// Strides per block, in values of a cell or, if these are apart, of a component.
struct PointLayout {
  Stagger stagger;
  std::vector<std::array<global_index, max_dimensions>> strides;
  friend bool operator==(const PointLayout&, const PointLayout&) = default;
};

// A block's points that are shared or held twice: places in its array, and numbers.
struct BlockPoints {
  std::vector<local_index> places, numbers;
};

struct GridPoints {
  SharedPoints shared;  // "cells" are places in the array; on several blocks, numbers of points
  std::vector<local_index> first,
      again;  // first and repeated occurrences of the rank's own points, numbered likewise
  std::vector<BlockPoints> blocks;  // empty on a single block
};

namespace {

bool components_apart(const Field& field) {
  for (std::size_t b = 0; b < field.blocks.size(); ++b)
    if (field.components > 1 && field.stride_of_components(b) != field.element.size) return true;
  return false;
}
byte_count unit_of(const Field& field) {
  return byte_count{field.element.size} * (components_apart(field) ? 1 : field.components);
}

// Without ghosts: points on both sides of the block's cells.
Box points_of(const CartesianDomain& domain, const Stagger& stagger, int block) {
  Box box = domain.owned(block);
  for (int d = 0; d < domain.dimensions(); ++d)
    box.hi[d] = std::max(box.lo[d], box.hi[d]) + stagger.more(d);
  return box;
}

class Finder {
 public:
  Finder(const CartesianDomain& domain, const PointLayout& layout)
      : domain_(domain), layout_(layout), points_(domain.staggered(layout.stagger)),
        several_(domain.blocks().size() > 1) {}

  // Visits border points along staggered dimensions: no others are shared, or held twice.
  void collect() {
    for (; block_ < std::ssize(domain_.blocks()); ++block_) {
      box_ = points_of(domain_, layout_.stagger, block_);
      extent_ = extent();
      Coordinates at{};
      visit(at, 0, false);
    }
    if (several_) extent_ = static_cast<local_index>(numbered_.size());
  }
  // Values of the array; of several blocks, collected points.
  local_index numbers() const { return extent_; }
  // Of several blocks: only points that are shared or held twice; no other may be written.
  std::vector<BlockPoints> by_block(const SharedPoints& shared) const {
    std::vector<BlockPoints> blocks(several_ ? domain_.blocks().size() : 0);
    std::vector<bool> used(numbered_.size());
    for (const auto* list : {&shared.points, &first, &again})
      for (const local_index number : *list)
        if (several_) used[number] = true;
    for (std::size_t number = 0; number < numbered_.size(); ++number) {
      if (!used[number]) continue;
      BlockPoints& block = blocks[numbered_[number].first];
      block.places.push_back(numbered_[number].second);
      block.numbers.push_back(static_cast<local_index>(number));
    }
    return blocks;
  }
  // Collective. Its local numbers index `places`.
  IndexedDomain domain(std::vector<local_index>& places) const {
    std::vector<global_index> ids;
    for (const auto& [id, place] : found_) ids.push_back(id);
    Localized points = localize(ids, domain_.communicator());
    places.resize(ids.size());
    auto cell = points.connectivity.begin();
    for (const auto& [id, place] : found_) places[*cell++] = place;
    return std::move(points.nodes);
  }

  std::vector<local_index> first, again;

 private:
  global_index stride(int d) const { return layout_.strides[block_][d]; }

  local_index extent() const {
    global_index last = 0;
    for (int d = 0; d < domain_.dimensions(); ++d)
      last += std::max<global_index>(0, box_.extent(d) - 1) * stride(d);
    if (last >= std::numeric_limits<local_index>::max())
      refuse("an array has more than 2^31 - 1 values: use more ranks");
    return static_cast<local_index>(last + 1);
  }

  void visit(Coordinates& at, int d, bool border) {
    if (d == domain_.dimensions() || d == max_dimensions) {
      if (border) add(at);
      return;
    }
    const global_index first = box_.lo[d], last = box_.hi[d] - 1;
    const bool staggered = layout_.stagger.more(d) != 0;
    const Axis& axis = points_.axis(d);
    bool inside = border;  // whether points between the ends may be
    for (int rest = d + 1; rest < domain_.dimensions(); ++rest)
      inside = inside || layout_.stagger.more(rest) != 0;
    for (global_index x = first; x <= last; x = inside || x == last ? x + 1 : last) {
      // No other rank holds the ends of a non-periodic grid, if the blocks there have cells.
      const auto& starts = axis.starts;
      const bool end = staggered && (x == first || x == last) &&
                       (axis.periodic || ((x > 0 || starts[1] == 0) &&
                                             (x < axis.extent - 1 || *(starts.end() - 2) == x)));
      at[d] = x;
      if (end || inside) visit(at, d + 1, border || end);
    }
  }

  void add(const Coordinates& at) {
    global_index id = 0, place = 0;
    for (int d = 0; d < domain_.dimensions(); ++d) {
      const Axis& axis = points_.axis(d);
      const global_index x = axis.periodic ? at[d] % axis.extent : at[d];
      id = id * axis.extent + x;
      place += (at[d] - box_.lo[d]) * stride(d);
    }
    auto number = static_cast<local_index>(place);
    if (several_) {
      numbered_.emplace_back(block_, number);
      number = static_cast<local_index>(numbered_.size() - 1);
    }
    const auto [known, is_new] = found_.try_emplace(id, number);
    if (!is_new) first.push_back(known->second), again.push_back(number);
  }

  const CartesianDomain& domain_;
  const PointLayout& layout_;
  CartesianDomain points_;
  bool several_;
  int block_ = 0;
  Box box_;
  local_index extent_ = 0;
  std::vector<std::pair<int, local_index>> numbered_;  // for several blocks: block and place
  std::map<global_index, local_index> found_;          // by global number
};

void require_points(const CartesianDomain& domain, const Field& field) {
  if (domain.stagger() != Stagger())
    refuse(
        "the domain has points: pass the domain of cells, and fields with their "
        "stagger");
  const bool has_seams = !domain.seams().empty();
  const bool on_line = std::ranges::any_of(
      domain.seams(), [](const Seam& seam) { return seam.pivot == Pivot::center; });
  const bool apart = std::ranges::none_of(
      field.stagger.along, [&](int along) { return along > 0 || (along < 0 && has_seams); });
  if (apart && !on_line)
    refuse("a field lives on cells, which only one rank holds: give its stagger");
}

PointLayout point_layout(const CartesianDomain& domain, const Field& field) {
  require_points(domain, field);
  if (field.indexed || field.blocks.size() != domain.blocks().size())
    throw Error("an array is not one of the grid's: view it with its domain", ErrorKind::type);
  require_stagger(field.stagger, domain.dimensions());
  require_on_host(field, true);
  PointLayout layout{field.stagger, {}};
  for (const BlockView& block : field.blocks) {
    if (block.first == nullptr) refuse("an array is a null pointer: pass the array of the field");
    auto& strides = layout.strides.emplace_back();
    for (int d = 0; d < domain.dimensions(); ++d) {
      if (block.strides[d] <= 0 || block.strides[d] % unit_of(field) != 0)
        refuse(
            "an array runs backwards, or a stride is not a multiple of the size of a value: pass "
            "an "
            "array without gaps inside a value");
      strides[d] = block.strides[d] / unit_of(field);
    }
  }
  return layout;
}

void append_values(
    const CartesianDomain& domain, const Field& field, int block, std::vector<CellValues>& values) {
  const BlockView& array = field.blocks[block];
  std::byte* first = array.first;
  const Coordinates begin = first_of(domain, field, block);
  for (int d = 0; d < domain.dimensions(); ++d)
    first += (domain.owned(block).lo[d] - begin[d]) * array.strides[d];
  const byte_count unit = unit_of(field);
  if (!components_apart(field)) {
    values.push_back({{first, unit}, {first, unit}, field.element, field.components});
    return;
  }
  for (int c = 0; c < field.components; ++c) {
    std::byte* const component = first + c * field.stride_of_components(block);
    values.push_back({{component, unit}, {component, unit}, field.element});
  }
}

// Collective.
GridPoints find_grid_points(const CartesianDomain& domain, const PointLayout& layout) {
  Finder finder(domain, layout);
  finder.collect();
  std::vector<local_index> places;
  const SharedPoints found = find_shared_points(finder.domain(places));
  SharedPoints shared = numbered(found, places, finder.numbers());
  auto blocks = finder.by_block(shared);
  return {std::move(shared), std::move(finder.first), std::move(finder.again), std::move(blocks)};
}

}  // namespace

// Over seams: exchanges of depth 0, which apply signs and turned components, to the first holder,
// and back with the sum.
class ThereAndBack {
 public:
  ThereAndBack(const CartesianDomain& domain, const std::vector<Field>& fields,
      const ExchangeOptions& options)
      : domain_(domain), options_(options), fields_(without_layers(fields)),
        exchange_({group_of(domain, fields_)}, options) {}

  void begin(Reduction how, std::span<const Field> named) {
    how_ = how;
    arrays_ = named.empty() ? fields_ : without_layers(named);
    half_.emplace(there(how).begin_reverse(how, arrays_));
    is_back_ = false, failure_ = nullptr;
  }
  // If a user's reduction fails on one rank, all must learn it: only `end` continues.
  bool test() {
    if (!is_back_ && half_->test() && how_.by() == nullptr) turn();
    return !half_ || half_->test();
  }
  void end() {
    if (!is_back_) turn();
    try {
      if (is_back_ && half_) half_->end();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  std::string explain() const { return "over seams, there and back\n" + exchange_.explain(); }

 private:
  static std::vector<Field> without_layers(std::span<const Field> fields) {
    std::vector<Field> all(fields.begin(), fields.end());
    for (Field& field : all) field.halo = 0;
    return all;
  }
  // The first holder sums points that a land block would own.
  static Group group_of(const CartesianDomain& domain, const std::vector<Field>& fields) {
    Group group(domain, fields);
    for (Pattern& each : group.patterns)
      if (!domain.wet_places().empty())
        each.stages = {stage_with_seams(domain.staggered(each.stagger), Reads::held_points)};
    return group;
  }
  // Collective when it first replaces: ranks below the first holder's then send nothing, so that
  // the highest rank's values remain.
  Exchange& there(Reduction how) {
    if (how != Reduction::replace) return exchange_;
    if (highest_) return *highest_;
    const Communicator& comm = domain_.communicator();
    return highest_.emplace(
        collectively(comm, "the first replacement of points", setup_limit(options_), [&] {
          const std::string why = exchange_.refusal(Direction::reverse, ArrayList(arrays_));
          if (!why.empty()) refuse(why);
          Group group = group_of(domain_, arrays_);  // those of the construction may be freed
          for (Pattern& each : group.patterns)
            for (Link& link : each.stages.front()) {
              if (link.rank < comm.rank())
                link.send = {}, link.send_unique = 0, link.send_duplicate_of.clear();
              if (link.rank > comm.rank())
                link.receive = {}, link.receive_unique = 0, link.receive_duplicate_of.clear();
            }
          ExchangeOptions same = options_;  // both take the same arrays
          same.transport = exchange_.transport();
          try {
            return Exchange(std::vector<Group>{group}, same);
          } catch (const Error& error) {  // on every rank: it takes no private arrays
            if (error.kind() != ErrorKind::value) throw;
            return Exchange(std::vector<Group>{group}, options_);
          }
        }));
  }
  // Collective for a user's reduction: all ranks learn that one's half or reduction failed; that
  // one throws its own, more precise error.
  void turn() {
    failure_ = nullptr;
    try {  // not in the collective call, where an error of another rank would end the wait
      half_->end();
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (!half_->has_ended()) return;
    is_back_ = true;
    half_.reset();
    const bool failed = how_.by() != nullptr && how_.by()->has_failed();
    const auto require_sums = [&] {
      if (failure_) std::rethrow_exception(failure_);
      if (failed) refuse("the reduction failed: see the error there");
    };
    try {
      if (how_.by() != nullptr)
        collectively(domain_.communicator(), "sums of points", setup_limit(options_), require_sums);
      half_.emplace(exchange_.begin(arrays_));  // others wait for it, also if `failure_` is set
    } catch (...) {
      if (how_.by() != nullptr ? !failed : !failure_) failure_ = std::current_exception();
    }
  }

  const CartesianDomain& domain_;
  ExchangeOptions options_;
  std::vector<Field> fields_, arrays_;  // of the constructor, of a call
  Exchange exchange_;
  std::optional<Exchange> highest_;
  Reduction how_ = Reduction::sum;
  std::optional<Step> half_;
  bool is_back_ = false;
  std::exception_ptr failure_;
};

struct PointSums::State final : Operation {
  CartesianDomain domain;
  std::vector<Field> fields;
  PointLayout layout;
  std::vector<std::vector<CellValues>> arrays;  // per block
  std::vector<CellValues> made, given;
  std::optional<GridPoints> points;
  const std::shared_ptr<Executor> executor = make_executor(MemorySpace::host);
  const std::shared_ptr<Queue> queue = executor->make_queue();
  std::vector<BounceBuffer> collected;  // per array: points of several blocks
  std::vector<Program> twice_in,
      twice_back;  // per array: between both places of points held twice
  std::optional<SharedReduction> sums;
  std::optional<ThereAndBack> over_seams;  // with seams, replaces all of these

  State(const CartesianDomain& of, std::vector<Field> with, const ExchangeOptions& options)
      : domain(of), fields(std::move(with)) {
    if (fields.empty()) refuse("no fields were passed: name those whose points are summed");
    for (const Field& field : fields) require_on_host(field);
    if (!domain.seams().empty()) {
      for (const Field& field : fields) require_points(domain, field);
      over_seams.emplace(domain, fields, options);
      return;
    }
    layout = point_layout(domain, fields.front());
    arrays.resize(domain.blocks().size());
    take(fields);
    made = arrays.front();
    points = find_grid_points(domain, layout);
    if (!points->blocks.empty()) collect();
    compile_twice();
    const bool some_twice = total(domain.communicator(), {std::ssize(points->first)})[0] > 0;
    sums.emplace(points->shared, points->shared.pattern.owned, made, options, nullptr, some_twice);
  }

  void collect() {
    for (CellValues& values : made) {
      std::vector<BounceBuffer::Cells> cells;
      for (std::size_t b = 0; b < points->blocks.size(); ++b) {
        const BlockPoints& of = points->blocks[b];
        cells.push_back({static_cast<int>(b), static_cast<byte_count>(of.places.size()),
            of.places.data(), of.numbers.data()});
      }
      BounceBuffer& each = collected.emplace_back(
          executor, values.width(), points->shared.pattern.owned, std::move(cells));
      each.reserve(true);
      values.owned = values.ghosts = {each.first(), values.width()};
    }
  }
  void copy_in() {
    for (std::size_t k = 0; k < collected.size(); ++k) {
      std::vector<CellArray> blocks;
      for (const auto& block : arrays) blocks.push_back(block[k].owned);
      collected[k].stand_in_for(blocks, true);
      collected[k].copy_in(*queue);
    }
  }

  void take(std::span<const Field> fields) {
    for (auto& block : arrays) block.clear();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (point_layout(domain, fields[f]) != layout)
        refuse("field ", f,
            " differs in stagger or layout from the first one: pass arrays of one stagger, equal "
            "extents and one order, and construct other sums for other arrays");
      for (std::size_t b = 0; b < arrays.size(); ++b)
        append_values(domain, fields[f], b, arrays[b]);
    }
    if (sums && !sums->fits(arrays.front(), MapCall::reduce_shared, false))
      refuse(
          "the arrays differ in elements or components from the constructor's: pass "
          "one for each field, in that order");
    given = collected.empty() ? arrays.front() : made;
  }
  // Combines the later place of points held twice into the first; copies the sum back.
  void compile_twice() {
    for (const CellValues& array : made) {
      const auto add = [&](std::vector<Program>& to, const auto& from, const auto& into) {
        Program& program = to.emplace_back();
        program.dependence = Dependence::destination;
        program.add_plain({0, 0, 0, 0, array.width(), static_cast<byte_count>(from.size()),
            array.width(), array.width(), from.data(), into.data(), array.element.scalar});
        executor->compile(program);
      };
      add(twice_in, points->again, points->first);
      add(twice_back, points->first, points->again);
    }
  }
  void run_twice(const std::vector<Program>& programs, Reduction how) {
    for (std::size_t k = 0; k < given.size(); ++k)
      queue->enqueue(programs[k], &given[k].owned.first, &given[k].owned.first, how);
  }
  // Others receive this rank's partial sums: tells them if a user's reduction failed.
  void start(Reduction how, std::span<const Field> named) {
    require_mpi_not_ended();  // in a forked child, before shared memory changes
    if (sums->under_way()) refuse("these sums are under way: end them first");
    take(named.empty() ? std::span<const Field>(fields) : named);
    for (const CellValues& array : given) require_reducible(array.element, how);
    copy_in();
    run_twice(twice_in, how);
    queue->wait();
    sums->tell_failure(how.by() != nullptr && how.by()->has_failed());
  }
  void finish() {
    run_twice(twice_back, Reduction::replace);
    for (BounceBuffer& each : collected) each.copy_out(*queue);
    queue->wait();
  }
  void begin(Reduction how, std::span<const Field> named) {
    if (under_way()) refuse("these sums are under way: end them first");
    if (over_seams) over_seams->begin(how, named);
    else start(how, named), sums->begin(given, MapCall::reduce_shared, how);
    begun();
  }
  void run(Reduction how, std::span<const Field> named) {
    if (over_seams) {
      begin(how, named), end();
      return;
    }
    start(how, named);
    sums->run(given, MapCall::reduce_shared, how);
    finish();
  }
  bool test() override { return over_seams ? over_seams->test() : sums->test(); }
  void end() override {
    if (!under_way()) refuse("no sums are under way: call begin first");
    ended();
    if (over_seams) over_seams->end();
    else sums->end(), finish();
  }
};

PointSums::PointSums(
    const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options)
    : state_(collectively(domain.communicator(), "the construction of sums of points",
          setup_limit(options),
          [&] { return std::make_shared<State>(domain, std::move(fields), options); })) {}
PointSums::~PointSums() = default;
PointSums::PointSums(PointSums&&) noexcept = default;
PointSums& PointSums::operator=(PointSums&&) noexcept = default;

void PointSums::reduce(Reduction reduction, std::span<const Field> arrays) {
  state_->run(reduction, arrays);
}

Step PointSums::begin(Reduction reduction, std::span<const Field> arrays) {
  state_->begin(reduction, arrays);
  return Step(state_);
}

void PointSums::end() { state_->end(); }
bool PointSums::under_way() const { return state_->under_way(); }

std::string PointSums::explain() const {
  if (state_->over_seams) return state_->over_seams->explain();
  const SharedPoints& shared = state_->points->shared;
  return concat(shared.points.size(), " points of this rank are shared, by up to ",
      shared.most_holders, " ranks; ", state_->points->first.size(), " it has twice\n",
      state_->sums->exchange()->explain());
}

}  // namespace parhelion
