#include "index_map/map_exchange.hpp"

#include <algorithm>

#include "core/time_limit.hpp"
#include "exchange/array_check.hpp"
#include "exchange/selection.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

using Lists = std::vector<std::span<const local_index>>;

Lists sent_cells(const Pattern& pattern) {
    Lists lists;
    for (const Stage& stage : pattern.stages)
        for (const Link& link : stage)
            if (!link.send.cells.empty()) lists.push_back(link.send.cells);
    return lists;
}

}  // namespace

MapExchange::MapExchange(const Pattern& pattern, CellArrays arrays, const ExchangeOptions& options)
    : made_for_(arrays.begin(), arrays.end()), given_(made_for_), ghosts_(pattern.ghosts) {
    for (const CellValues& array : arrays)
        arrays_.push_back({{array.width(), pattern.owned, sent_cells(pattern)}, {array.width(), pattern.ghosts, {StandIn::all}}});
    places_.resize(2 * arrays_.size());
    validate_together(pattern.communicator, [&] {
        for (Array& array : arrays_) array.owned.reserve(false), array.ghosts.reserve(true);
        represent(arrays, false, requested_transport(options.transport) != "auto");  // one that was asked for may need shared ghosts
    });
    std::vector<Field> fields;
    for (std::size_t f = 0; f < arrays.size(); ++f)
        fields.push_back(view_cells(places_[2 * f], pattern.owned, places_[2 * f + 1], pattern.ghosts, arrays[f].element,
                                    {Order::c, arrays[f].components}));
    checked_ = options.check || checks_by_environment();
    ExchangeOptions held = options;
    held.combine_in_end = true;
    exchange_.emplace(pattern, std::move(fields), std::move(held));
}

bool MapExchange::fits(CellArrays arrays, Direction direction) const {
    return std::equal(arrays.begin(), arrays.end(), made_for_.begin(), made_for_.end(), [&](const CellValues& a, const CellValues& b) {
        return direction == Direction::forward ? a.width() == b.width() : a.element == b.element && a.components == b.components;
    });
}

bool MapExchange::moves(CellArrays arrays, Direction direction) const {
    return under_way() && direction == direction_ &&
           std::equal(arrays.begin(), arrays.end(), given_.begin(), given_.end(), [](const CellValues& a, const CellValues& b) {
               return a.owned == b.owned && a.ghosts == b.ghosts && a.width() == b.width();
           });
}

void MapExchange::represent(CellArrays arrays, bool hold_owned, bool hold_ghosts) {
    std::copy(arrays.begin(), arrays.end(), given_.begin());
    for (std::size_t f = 0; f < arrays.size(); ++f) {
        places_[2 * f] = arrays_[f].owned.represent(arrays[f].owned, hold_owned);
        places_[2 * f + 1] = arrays_[f].ghosts.represent(arrays[f].ghosts, hold_ghosts);
    }
}

// Arrays that what moves the data would refuse (their memory, their alignment) are held, too.
void MapExchange::represent(CellArrays arrays, Direction direction, bool hold_owned, bool hold_ghosts) {
    represent(arrays, hold_owned, hold_ghosts);
    if (!exchange_->refusal(direction, ArrayList(places_)).empty()) represent(arrays, true, true);
}

void MapExchange::for_owned(void (StandIn::*copy)()) {
    for (Array& array : arrays_) (array.owned.*copy)();
}
void MapExchange::for_ghosts(void (StandIn::*copy)()) {
    for (Array& array : arrays_) (array.ghosts.*copy)();
}

void MapExchange::forward(CellArrays arrays) {
    represent(arrays, Direction::forward, false, false);
    for_owned(&StandIn::bring);
    (*exchange_)(places_);
    for_ghosts(&StandIn::give_back);
}

void MapExchange::reverse(CellArrays arrays, Reduction reduction) {
    represent(arrays, Direction::reverse, false, false);
    for_owned(&StandIn::bring);
    for_ghosts(&StandIn::bring);
    exchange_->reverse(reduction, places_);
    for_owned(&StandIn::give_back);
}

// Owned cells of a reverse exchange need not be held: it combines in its end.
void MapExchange::begin(CellArrays arrays, Direction direction, Reduction reduction) {
    const bool forward = direction == Direction::forward;
    direction_ = direction;
    represent(arrays, direction, forward, true);
    if (forward) for_owned(&StandIn::bring);
    else for_ghosts(&StandIn::bring);
    if (checked_ && forward) poison_ghosts();
    step_.emplace(forward ? exchange_->begin(places_) : exchange_->begin_reverse(reduction, places_));
    begun();
}

// Those that `end` writes; the exchange knows its stand-ins only.
void MapExchange::poison_ghosts() const {
    for (const CellValues& array : given_)
        for (local_index cell = 0; cell < ghosts_; ++cell)
            fill_poison(array.ghosts.first + cell * array.ghosts.stride, array.width(), array.element);
}

void MapExchange::end() {
    ended();
    if (direction_ == Direction::reverse) for_owned(&StandIn::bring);
    step_->end();
    if (direction_ == Direction::reverse) for_owned(&StandIn::give_back);
    else for_ghosts(&StandIn::give_back);
}

StandIn::StandIn(byte_count width, local_index cells, std::vector<std::span<const local_index>> exchanged)
    : width_(width), cells_(cells), exchanged_(std::move(exchanged)) {}

// Ordinary memory has pages where cells are copied to only: of owned cells, few.
void StandIn::reserve(bool node_shared) {
    if (cells_ == 0) return;
    const byte_count bytes = cells_ * width_;
    if (node_shared) memory_ = allocate_node_shared(bytes);
    else memory_ = {new std::byte[static_cast<std::size_t>(bytes)], std::default_delete<std::byte[]>()};
}

std::byte* StandIn::represent(CellArray array, bool hold) {
    array_ = array;
    used_ = cells_ > 0 && (hold || (array.stride != width_ && cells_ > 1));
    if (!used_) return array.first;
    if (stride_ != array.stride) compile();
    return memory_.get();
}

void StandIn::compile() {
    stride_ = array_.stride;
    bring_ = {};
    for (const auto& list : exchanged_) {
        const auto count = list.data() == nullptr ? byte_count{cells_} : static_cast<byte_count>(list.size());
        bring_.add(IndexedOp{0, 0, 0, 0, width_, count, stride_, width_, list.data(), list.data()});
    }
    give_back_ = inverse(bring_);
}

void StandIn::bring() {
    std::byte* const here = memory_.get();
    if (used_) run(bring_, &array_.first, &here);
}

void StandIn::give_back() {
    std::byte* const here = memory_.get();
    if (used_) run(give_back_, &here, &array_.first);
}

}  // namespace parhelion
