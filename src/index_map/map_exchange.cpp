#include "index_map/map_exchange.hpp"

#include <algorithm>

#include "core/time_limit.hpp"
#include "exchange/checks.hpp"
#include "exchange/selection.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

std::vector<BounceBuffer::Cells> sent_cells(const Pattern& pattern) {
    std::vector<BounceBuffer::Cells> sent;
    for (const Stage& stage : pattern.stages)
        for (const Link& link : stage)
            if (const auto& cells = link.send.cells; !cells.empty())
                sent.push_back(
                    {0, static_cast<byte_count>(cells.size()), cells.data(), cells.data()});
    return sent;
}

}  // namespace

MapExchange::MapExchange(const Pattern& pattern, CellArrays arrays, const ExchangeOptions& options)
    : made_for_(arrays.begin(), arrays.end()), given_(made_for_), owned_(pattern.owned),
      ghosts_(pattern.ghosts) {
    for (const CellValues& array : arrays)
        arrays_.push_back({{executor_, array.width(), pattern.owned, sent_cells(pattern)},
                           {executor_, array.width(), pattern.ghosts, {{0, pattern.ghosts}}}});
    places_.resize(2 * arrays_.size());
    validate_together(pattern.communicator, [&] {
        for (Array& array : arrays_) array.owned.reserve(false), array.ghosts.reserve(true);
        represent(arrays, false,
                  requested_transport(options.transport) !=
                      "auto");  // one that was asked for may need shared ghosts
    });
    std::vector<Field> fields;
    for (std::size_t f = 0; f < arrays.size(); ++f)
        fields.push_back(view_cells(places_[2 * f], pattern.owned, places_[2 * f + 1],
                                    pattern.ghosts, arrays[f].element,
                                    {Order::c, arrays[f].components}));
    checked_ = options.check || checks_by_environment();
    ExchangeOptions held = options;
    held.combine_in_end = true;
    exchange_.emplace(pattern, std::move(fields), std::move(held));
}

bool MapExchange::fits(CellArrays arrays, Direction direction) const {
    return std::equal(arrays.begin(), arrays.end(), made_for_.begin(), made_for_.end(),
                      [&](const CellValues& a, const CellValues& b) {
                          return direction == Direction::forward
                                     ? a.width() == b.width()
                                     : a.element == b.element && a.components == b.components;
                      });
}

bool MapExchange::moves(CellArrays arrays, Direction direction) const {
    return under_way() && direction == direction_ &&
           std::equal(arrays.begin(), arrays.end(), given_.begin(), given_.end(),
                      [](const CellValues& a, const CellValues& b) {
                          return a.owned == b.owned && a.ghosts == b.ghosts &&
                                 a.width() == b.width();
                      });
}

void MapExchange::represent(CellArrays arrays, bool hold_owned, bool hold_ghosts) {
    std::copy(arrays.begin(), arrays.end(), given_.begin());
    for (std::size_t f = 0; f < arrays.size(); ++f) {
        places_[2 * f] = represent({&Array::owned, &CellValues::owned, owned_}, f, hold_owned);
        places_[2 * f + 1] =
            represent({&Array::ghosts, &CellValues::ghosts, ghosts_}, f, hold_ghosts);
    }
}

// The first cell for the exchange: the array's own, unless it has to be held or its cells are
// apart.
std::byte* MapExchange::represent(const Side& side, std::size_t f, bool hold) {
    const CellArray& array = given_[f].*side.array;
    BounceBuffer& buffer = arrays_[f].*side.buffer;
    buffer.stand_in_for(
        {&array, 1},
        side.cells > 0 && (hold || (array.stride != made_for_[f].width() && side.cells > 1)));
    return buffer.stands_in() ? buffer.first() : array.first;
}

// Arrays that what moves the data would refuse (their memory, their alignment) are held, too.
void MapExchange::represent(CellArrays arrays, Direction direction, bool hold_owned,
                            bool hold_ghosts) {
    represent(arrays, hold_owned, hold_ghosts);
    if (!exchange_->refusal(direction, ArrayList(places_)).empty()) represent(arrays, true, true);
}

void MapExchange::copy(BounceBuffer Array::* buffer, void (BounceBuffer::*way)(Queue&)) {
    for (Array& array : arrays_) ((array.*buffer).*way)(*queue_);
}

void MapExchange::forward(CellArrays arrays) {
    represent(arrays, Direction::forward, false, false);
    copy(&Array::owned, &BounceBuffer::copy_in);
    (*exchange_)(*queue_, places_);
    copy(&Array::ghosts, &BounceBuffer::copy_out);
    queue_->wait();
}

void MapExchange::reverse(CellArrays arrays, Reduction reduction) {
    represent(arrays, Direction::reverse, false, false);
    copy(&Array::owned, &BounceBuffer::copy_in);
    copy(&Array::ghosts, &BounceBuffer::copy_in);
    exchange_->reverse(*queue_, reduction, places_);
    copy(&Array::owned, &BounceBuffer::copy_out);
    queue_->wait();
}

// Owned cells of a reverse exchange need not be held: it combines in its end. What is held is let
// go of before begin returns.
void MapExchange::begin(CellArrays arrays, Direction direction, Reduction reduction) {
    const bool forward = direction == Direction::forward;
    direction_ = direction;
    represent(arrays, direction, forward, true);
    copy(forward ? &Array::owned : &Array::ghosts, &BounceBuffer::copy_in);
    queue_->wait();
    if (checked_ && forward) poison_ghosts();
    step_.emplace(forward ? exchange_->begin(places_)
                          : exchange_->begin_reverse(reduction, places_));
    begun();
}

// Those that `end` writes; the exchange knows its bounce buffers only.
void MapExchange::poison_ghosts() const {
    for (const CellValues& array : given_)
        for (local_index cell = 0; cell < ghosts_; ++cell)
            fill_poison(array.ghosts.first + cell * array.ghosts.stride, array.width(),
                        array.element);
}

void MapExchange::end() {
    ended();
    const bool forward = direction_ == Direction::forward;
    if (!forward) copy(&Array::owned, &BounceBuffer::copy_in);
    queue_->wait();
    step_->end();
    copy(forward ? &Array::ghosts : &Array::owned, &BounceBuffer::copy_out);
    queue_->wait();
}

}  // namespace parhelion
