#include "index_map/map_exchange.hpp"

#include <numeric>

#include "core/time_limit.hpp"
#include "exchange/checks.hpp"
#include "parhelion/core/mpi_lifetime.hpp"

namespace parhelion {
namespace {

std::vector<BounceBuffer::Cells> list(
    const std::vector<local_index>& from, const std::vector<local_index>& to) {
  return {{0, static_cast<byte_count>(from.size()), from.data(), to.data()}};
}

}  // namespace

MapExchange::MapExchange(const Pattern& pattern, const std::vector<local_index>* places,
    bool in_halves, CellArrays arrays, const ExchangeOptions& options)
    : CellsOperation(arrays), owned_(pattern.owned), ghosts_(pattern.ghosts), at_(places),
      in_place_(places != nullptr && !in_halves) {
  places_.resize(2 * arrays.size());
  validate_together(pattern.communicator, [&] {
    for (const Stage& stage : pattern.stages)
      for (const Link& link : stage)
        sent_.insert(sent_.end(), link.send.cells.begin(), link.send.cells.end());
    received_.resize(ghosts_);
    std::iota(received_.begin(), received_.end(), owned_);
    for (const CellValues& array : arrays)
      if (places != nullptr) arrays_.push_back(placed(pattern, array));
      else
        arrays_.push_back({{executor_, array.width(), pattern.owned, list(sent_, sent_)},
            {executor_, array.width(), pattern.ghosts, {{0, pattern.ghosts}}}});
    for (Array& array : arrays_)
      if (!in_place_) array.owned.reserve(false), array.ghosts.reserve(true);
    represent(false,
        requested_transport(options.transport) !=
            "auto");  // an explicit transport may require shared ghosts
  });
  std::vector<Group> groups;
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    Group group = group_of(pattern, f);
    if (in_place_ || f == 0) groups.push_back(std::move(group));
    else groups.front().fields.push_back(std::move(group.fields.front()));
  }
  checked_ = options.check || checks_by_environment();
  ExchangeOptions held = options;
  held.combine_in_end = true;
  exchange_.emplace(std::move(groups), std::move(held));
}

MapExchange::Array MapExchange::placed(const Pattern& pattern, const CellValues& array) const {
  const auto numbers = [](const std::vector<local_index>& cells, local_index first) {
    Numbers made{cells, cells};
    for (local_index& cell : made.in_buffer) cell -= first;
    return std::make_unique<Numbers>(std::move(made));
  };
  auto sent = numbers(sent_, 0), received = numbers(received_, owned_);
  PlacedCells cells(*at_);
  byte_count owned_end = pattern.owned, ghosts_end = pattern.ghosts;
  CellShape shape(array, array.width(), array.element.size);
  if (in_place_) {
    cells.look_at(array);
    owned_end = ghosts_end = cells.end();
    shape = CellShape(array, cells.in(array).stride, array.component_stride);
    cells.numbers_of(sent_, sent->in_buffer);
    cells.numbers_of(received_, received->in_buffer);
  }
  BounceBuffer owned(executor_, shape, owned_end, list(sent->in_array, sent->in_buffer)),
      ghosts(executor_, shape, ghosts_end, list(received->in_array, received->in_buffer));
  return {std::move(owned), std::move(ghosts), PlacedCells(*at_), std::move(sent),
      std::move(received), shape};
}

// In place, each array has its own pattern: its layout numbers the cells.
Group MapExchange::group_of(const Pattern& pattern, std::size_t f) const {
  const CellValues& array = made_for_[f];
  const std::optional<PlacedCells>& cells = arrays_[f].cells;
  const local_index owned = in_place_ ? cells->end() : pattern.owned,
                    ghosts = in_place_ ? cells->end() : pattern.ghosts;
  Field field = view_cells(places_[2 * f], owned, places_[2 * f + 1], ghosts, array.element,
      {Order::c, array.components});
  if (!in_place_) return {pattern, {std::move(field)}};
  field.component_stride = array.component_stride;
  for (BlockView& block : field.blocks) block.strides[0] = cells->in(array).stride;
  return {cells->numbered(pattern), {std::move(field)}};
}

bool MapExchange::fits(CellArrays arrays, MapCall call, bool in_halves) const {
  if (call == MapCall::reduce_shared || (at_ != nullptr && in_place_ == in_halves)) return false;
  return call == MapCall::forward && at_ == nullptr ? has_widths_of(arrays)
                                                    : has_elements_of(arrays);
}

void MapExchange::represent(bool hold_owned, bool hold_ghosts) {
  for (std::size_t f = 0; f < given_.size(); ++f) {
    if (at_ != nullptr) look_at(f);
    places_[2 * f] = represent(f, false, hold_owned);
    places_[2 * f + 1] = represent(f, true, hold_ghosts);
    if (in_place_ && owned_ == 0)  // never read, but must have the plan's layout
      places_[2 * f] = places_[2 * f + 1];
  }
}

void MapExchange::look_at(std::size_t f) {
  Array& array = arrays_[f];
  const CellValues& given = given_[f];
  if (!array.cells->look_at(given)) return;
  array.cells->numbers_of(sent_, array.sent->in_array);
  array.cells->numbers_of(received_, array.received->in_array);
  const CellShape shape(
      given, array.shape.stride, in_place_ ? made_for_[f].component_stride : given.element.size);
  array.owned.look_again(shape), array.ghosts.look_again(shape);
}

CellArray MapExchange::cells_of(std::size_t f, bool ghosts) const {
  if (at_ != nullptr) return arrays_[f].cells->in(given_[f]);
  return ghosts ? given_[f].ghosts : given_[f].owned;
}

// First cell for the exchange: the array's, or the buffer's for `hold` or another layout.
std::byte* MapExchange::represent(std::size_t f, bool ghosts, bool hold) {
  const CellArray array = cells_of(f, ghosts);
  const local_index cells = ghosts ? ghosts_ : owned_;
  BounceBuffer& buffer = ghosts ? arrays_[f].ghosts : arrays_[f].owned;
  const bool apart = at_ != nullptr ? !in_place_ || !arrays_[f].cells->is_like(made_for_[f])
                                    : array.stride != made_for_[f].width() && cells > 1;
  const bool stands_in = cells > 0 && (hold || apart);
  if (in_place_ && stands_in && buffer.first() == nullptr)  // rare, and as large as the array
    buffer.reserve(ghosts);
  buffer.stand_in_for({&array, 1}, stands_in);
  return buffer.stands_in() ? buffer.first() : array.first;
}

// Refuses a forked child before shared memory changes. Also buffers arrays whose memory or
// alignment the transport refuses.
void MapExchange::start(CellArrays arrays, MapCall call, bool hold_owned, bool hold_ghosts) {
  require_mpi_not_ended();
  take(arrays, call);
  represent(hold_owned, hold_ghosts);
  if (!exchange_->refusal(direction(), ArrayList(places_)).empty()) represent(true, true);
}

void MapExchange::copy(BounceBuffer Array::* buffer, void (BounceBuffer::*way)(Queue&)) {
  for (Array& array : arrays_) ((array.*buffer).*way)(*queue_);
}

void MapExchange::run(CellArrays arrays, MapCall call, Reduction reduction) {
  start(arrays, call, false, false);
  const bool forward = call == MapCall::forward;
  copy(&Array::owned, &BounceBuffer::copy_in);
  if (!forward) copy(&Array::ghosts, &BounceBuffer::copy_in);
  exchange_->run_with(direction(), reduction, ArrayList(places_), queue_.get());
  copy(forward ? &Array::ghosts : &Array::owned, &BounceBuffer::copy_out);
  queue_->wait();
}

// Releases all buffered arrays. Reverse exchanges combine in `end` and need no buffer for owned
// cells.
void MapExchange::begin(CellArrays arrays, MapCall call, Reduction reduction) {
  const bool forward = call == MapCall::forward;
  start(arrays, call, forward, true);
  copy(forward ? &Array::owned : &Array::ghosts, &BounceBuffer::copy_in);
  queue_->wait();
  if (checked_ && forward) poison_ghosts();
  step_.emplace(exchange_->begin_with(direction(), reduction, ArrayList(places_)));
  begun();
}

// Poisons the caller's ghosts, which `end` writes: the exchange only sees bounce buffers.
void MapExchange::poison_ghosts() const {
  for (std::size_t f = 0; f < given_.size(); ++f) {
    const CellValues& array = given_[f];
    const CellArray cells = cells_of(f, true);
    const bool joined = array.is_joined();
    for (local_index cell = 0; cell < ghosts_; ++cell) {
      const local_index number = at_ ? arrays_[f].cells->number(owned_ + cell) : cell;
      for (int c = 0; c < (joined ? 1 : array.components); ++c)
        fill_poison(cells.first + number * cells.stride + c * array.component_stride,
            joined ? array.width() : array.element.size, array.element);
    }
  }
}

void MapExchange::end() {
  ended();
  const bool forward = call() == MapCall::forward;
  if (!forward) copy(&Array::owned, &BounceBuffer::copy_in);
  queue_->wait();
  step_->end();
  copy(forward ? &Array::ghosts : &Array::owned, &BounceBuffer::copy_out);
  queue_->wait();
}

}  // namespace parhelion
