#include "parhelion/index_map/index_map.hpp"

#include <algorithm>

#include "index_map/share_memory.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

IndexMap::IndexMap(IndexedDomain domain) : domain_(std::move(domain)), pattern_(build_pattern(domain_)) {}

BufferedExchange& IndexMap::idle_exchange(byte_count width) {
    auto& all = exchanges_[width];
    const auto idle = std::find_if(all.begin(), all.end(), [](const auto& each) { return !each->under_way(); });
    if (idle != all.end()) return **idle;
    auto made = std::make_unique<BufferedExchange>(pattern_, width);
    return *all.emplace_back(std::move(made));
}

IndexMap::Active IndexMap::take(const CellValues& values, Direction direction) {
    const auto found = std::find_if(active_.begin(), active_.end(), [&](const Active& active) {
        return active.direction == direction && active.values.owned == values.owned &&
               active.values.ghosts == values.ghosts && active.values.width() == values.width();
    });
    if (found == active_.end())
        throw Error("no exchange of these arrays is under way in this direction: begin one, and end it with the same arrays");
    const Active active = *found;
    active_.erase(found);
    return active;
}

// On every call, for that is when the arrays are named.
void IndexMap::require_disjoint(const CellValues& values) const {
    if (share_memory(values.owned, domain_.owned(), values.ghosts, domain_.ghosts(), values.width()))
        throw Error("the arrays of owned cells and of ghosts share memory: pass arrays that do not overlap, or one that holds the "
                    "ghosts behind the owned cells");
}

void IndexMap::forward(const CellValues& values) {
    require_disjoint(values);
    idle_exchange(values.width()).forward(values.owned, values.ghosts);
}

void IndexMap::begin_forward(const CellValues& values) {
    require_disjoint(values);
    BufferedExchange& exchange = idle_exchange(values.width());
    exchange.begin_forward(values.owned);
    active_.push_back({values, Direction::forward, Reduction::replace, &exchange});
}

void IndexMap::end_forward(const CellValues& values) {
    take(values, Direction::forward).exchange->end_forward(values.ghosts);
}

void IndexMap::reverse(const CellValues& values, Reduction reduction) {
    require_reducible(values.element, reduction);
    require_disjoint(values);
    idle_exchange(values.width()).reverse(values.ghosts, values.owned, values.element.scalar, reduction);
}

void IndexMap::begin_reverse(const CellValues& values, Reduction reduction) {
    require_reducible(values.element, reduction);
    require_disjoint(values);
    BufferedExchange& exchange = idle_exchange(values.width());
    exchange.begin_reverse(values.ghosts);
    active_.push_back({values, Direction::reverse, reduction, &exchange});
}

void IndexMap::end_reverse(const CellValues& values) {
    const Active active = take(values, Direction::reverse);
    active.exchange->end_reverse(values.owned, active.values.element.scalar, active.reduction);
}

}  // namespace parhelion
