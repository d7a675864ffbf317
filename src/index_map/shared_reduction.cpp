#include "index_map/shared_reduction.hpp"

#include "core/concat.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

std::shared_ptr<std::byte> node_shared(byte_count bytes) {
  return bytes == 0 ? nullptr : allocate_node_shared(bytes);
}

// Cells or slots: byte strides of cells and of components.
struct Operand {
  int base;
  byte_count stride, apart;
};

// Keeps the list's order: combines in the order of ranks.
void add(Program& program, const CellValues& values, const Operand& from,
    const std::vector<local_index>& src, const Operand& to, const std::vector<local_index>& dst) {
  const bool joined = from.apart == to.apart;
  for (int c = 0; c < (joined ? 1 : values.components); ++c)
    program.add_plain({from.base, to.base, c * from.apart, c * to.apart,
        joined ? values.width() : byte_count{values.element.size},
        static_cast<byte_count>(src.size()), from.stride, to.stride, src.data(), dst.data(),
        values.element.scalar});
}

}  // namespace

SharedReduction::SharedReduction(const SharedPoints& points, local_index owned, CellArrays arrays,
    const ExchangeOptions& options, const std::vector<local_index>* places, bool tells_failures)
    : CellsOperation(arrays), points_(points), owned_(owned), places_(2 * arrays.size()) {
  const std::vector<local_index>& all = points.points;  // of a map, ascending: ghosts last
  for (const local_index point : all)
    if (point >= owned) shared_ghosts_.push_back(point - owned);
  const auto ghosts = std::ssize(shared_ghosts_), first_ghost = std::ssize(all) - ghosts;
  const Pattern& pattern = points.pattern;
  validate_together(pattern.communicator, [&] {
    for (const CellValues& values : made_for_) {
      std::vector<BounceBuffer::Cells> exchanged{{0, first_ghost, all.data(), all.data()},
          {1, ghosts, shared_ghosts_.data(), all.data() + first_ghost}};
      arrays_.push_back(places != nullptr
                            ? placed(values, *places)
                            : Array{values.width(), {executor_, values.width(), pattern.owned,
                                                        std::move(exchanged)}});
      make(arrays_.back(), values);
      represent(arrays_.size() - 1, false);
    }
    if (tells_failures) failures_ = node_shared(1 + std::ssize(pattern.stages[0]));
  });
  std::vector<Group> groups;
  for (std::size_t f = 0; f < arrays_.size(); ++f) {
    Group group = group_of(f);
    if (places != nullptr || f == 0) groups.push_back(std::move(group));
    else groups.front().fields.push_back(std::move(group.fields.front()));
  }
  if (failures_) {
    groups.push_back(failures_group());
    places_.insert(places_.end(), {failures_.get(), failures_.get() + 1});
  }
  exchange_.emplace(std::move(groups), options);
}

SharedReduction::Array SharedReduction::placed(
    const CellValues& values, const std::vector<local_index>& places) const {
  PlacedCells cells(places);
  cells.look_at(values);
  auto made = std::make_unique<Numbered>(Numbered{
      cells, numbered(points_, cells.numbers(), cells.end()), cells.in(values).stride, {}});
  made->points.pattern.interleaved = true;
  made->in_array = made->points.points;
  const BounceBuffer::Cells all{0, static_cast<byte_count>(made->in_array.size()),
      made->in_array.data(), made->points.points.data()};
  BounceBuffer buffer(
      executor_, {values, made->stride, values.component_stride}, cells.end(), {all});
  return {values.width(), std::move(buffer), std::move(made)};
}

// With places, each array has its own pattern: its layout numbers the points.
Group SharedReduction::group_of(std::size_t f) const {
  const CellValues& values = made_for_[f];
  const Numbered* const numbered = arrays_[f].numbered.get();
  const Pattern& pattern = numbered != nullptr ? numbered->points.pattern : points_.pattern;
  Field field = view_cells(places_[2 * f], pattern.owned, places_[2 * f + 1], pattern.ghosts,
      values.element, {Order::c, values.components});
  if (numbered != nullptr) {
    field.blocks[0].strides[0] = numbered->stride;
    field.blocks[0].component_stride = values.component_stride;
  }
  return {pattern, {std::move(field)}};
}

// One byte to each other holder of this rank's points.
Group SharedReduction::failures_group() const {
  Pattern pattern = points_.pattern;
  pattern.owned = 1, pattern.ghosts = 0;
  for (Link& link : pattern.stages[0])
    link = {link.rank, {{}, {0}}, {{}, {1 + pattern.ghosts++}}, 1, 1, {}, {}};
  Field field =
      view_cells(failures_.get(), 1, failures_.get() + 1, pattern.ghosts, {Scalar::uint8, 1});
  return {std::move(pattern), {std::move(field)}};
}

// The failing rank itself throws its own, more precise error.
void SharedReduction::refuse_failures(Reduction reduction) const {
  if (!failures_ || reduction.by() == nullptr || reduction.by()->has_failed()) return;
  queue_->wait();
  const Stage& links = points_.pattern.stages[0];
  for (std::size_t k = 0; k < links.size(); ++k)
    if (failures_.get()[1 + k] != std::byte{})
      refuse("the reduction failed on rank ", links[k].rank,
          ", where it combined points that the rank has twice: see the error there; the points "
          "that "
          "this rank shares were not combined");
}

void SharedReduction::make(Array& array, const CellValues& values) {
  const Numbered* const numbered = array.numbered.get();
  const SharedPoints& points = numbered != nullptr ? numbered->points : points_;
  const Operand slots{1, array.width, values.element.size};
  Operand cells = slots;
  cells.base = 0;
  if (numbered != nullptr) cells.stride = numbered->stride, cells.apart = values.component_stride;
  for (const Holder& turn : points.holders) {
    Program& program = array.turns.emplace_back();
    program.dependence = Dependence::chain;
    const bool own = turn.rank == points.pattern.communicator.rank();
    add(program, values, slots, turn.slots, cells, turn.points);
    add(program, values, own ? cells : slots, turn.from, slots, turn.into_slots);
  }
  add(array.give, values, slots, points.gathered, cells, points.given);
  for (Program& program : array.turns) executor_->compile(program);
  executor_->compile(array.give);
  array.slots = node_shared(points.pattern.ghosts * array.width);
  if (numbered == nullptr) array.buffer.reserve(false);
}

// Owned cells and ghosts, contiguously.
bool SharedReduction::lies_together(const CellValues& values) const {
  const local_index ghosts = points_.pattern.owned - owned_;
  const byte_count width = values.width();
  return (values.owned.stride == width || owned_ <= 1) &&
         (values.ghosts.stride == width || ghosts <= 1) &&
         (owned_ == 0 || ghosts == 0 || values.ghosts.first == values.owned.first + owned_ * width);
}

// Exchanges arrays in place if possible.
void SharedReduction::represent(std::size_t f, bool always) {
  Array& array = arrays_[f];
  const CellValues& values = given_[f];
  CellArray parts[2] = {values.owned, values.ghosts};
  std::byte* first = owned_ == 0 ? values.ghosts.first : values.owned.first;
  bool stands_in = always;
  if (Numbered* const numbered = array.numbered.get()) {
    if (numbered->cells.look_at(values)) {
      numbered->cells.numbers_of(points_.points, numbered->in_array);
      array.buffer.look_again({values, numbered->stride, made_for_[f].component_stride});
    }
    parts[0] = numbered->cells.in(values), first = parts[0].first;
    stands_in |= !numbered->cells.is_like(made_for_[f]);
    if (stands_in && array.buffer.first() == nullptr)  // rare, and as large as the array
      array.buffer.reserve(false);
  } else {
    stands_in |= !lies_together(values);
  }
  array.buffer.stand_in_for(parts, stands_in);
  places_[2 * f] = array.buffer.stands_in() ? array.buffer.first() : first;
  places_[2 * f + 1] = array.slots.get();
}

void SharedReduction::represent() {
  for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, false);
  if (exchange_->refusal(Direction::forward, ArrayList(places_)).empty()) return;
  for (std::size_t f = 0; f < arrays_.size(); ++f) represent(f, true);
}

void SharedReduction::start(CellArrays arrays, MapCall call) {
  require_mpi_not_ended();
  take(arrays, call);
  represent();
  for (Array& array : arrays_) array.buffer.copy_in(*queue_);
}

void SharedReduction::run(CellArrays arrays, MapCall call, Reduction reduction) {
  start(arrays, call);
  (*exchange_)(*queue_, places_);
  combine(reduction);
}

void SharedReduction::begin(CellArrays arrays, MapCall call, Reduction reduction) {
  start(arrays, call);
  reduction_ = reduction;
  queue_->wait();
  step_.emplace(exchange_->begin(places_));
  begun();
}

void SharedReduction::end() {
  ended();
  step_->end();
  combine(*reduction_);
}

void SharedReduction::combine(Reduction reduction) {
  refuse_failures(reduction);
  for (std::size_t f = 0; f < arrays_.size(); ++f) {
    Bases bases = &places_[2 * f];
    for (const Program& turn : arrays_[f].turns) queue_->enqueue(turn, bases, bases, reduction);
    queue_->enqueue(arrays_[f].give, bases, bases);
    arrays_[f].buffer.copy_out(*queue_);
  }
  queue_->wait();
}

}  // namespace parhelion
