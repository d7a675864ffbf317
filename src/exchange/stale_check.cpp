#include "exchange/stale_check.hpp"

#include <algorithm>

#include "exchange/selection.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "plan/array_block.hpp"
#include "plan/value_place.hpp"

namespace parhelion {

StaleCheck::StaleCheck(const Plan& plan) : plan_(plan) {
    allocate();
    arrays_ = std::make_unique<BoundArrays>(plan_);
    stages_ = select_by_name(plan_, *arrays_, parse_choice("mpi")).stages;
}

// Pages that no cell that is exchanged lies in are never touched.
void StaleCheck::allocate() {
    std::vector<std::byte*> places = plan_.bases;
    for (std::size_t f = 0; f < plan_.fields.size(); ++f) {
        if (plan_.fields[f].space != MemorySpace::host)
            throw Error(
                "ghosts in device memory cannot be compared with their owners: copy them to the "
                "host");
        for (std::size_t b = 0; b < plan_.fields[f].blocks.size(); ++b) {
            const ArrayBlock block = array_block(plan_, f, b);
            if (block.empty()) continue;
            memory_.push_back(allocate_aligned(block.end - block.begin));
            places[static_cast<std::size_t>(plan_.first_base[f]) + b] =
                memory_.back().get() + (block.first - block.begin);
        }
    }
    plan_.move_to(places.data());
    owned_ = packed_cells(plan_, End::owned);
    ghosts_ = packed_cells(plan_, End::ghosts);
    byte_count most = 0;
    for (const PackedCells& cells : ghosts_) most = std::max(most, cells.layout.bytes());
    here_ = allocate_aligned(most);
}

StaleGhosts StaleCheck::find(const BoundArrays& arrays, double timeout_s) {
    for (PackedCells& cells : owned_) {
        cells.take(plan_, arrays.bases());
        cells.put(plan_, plan_.bases.data());
    }
    stages_->begin(Direction::forward);
    stages_->end(timeout_s);
    StaleGhosts found;
    found.count.resize(plan_.fields.size());
    for (PackedCells& cells : ghosts_) compare(cells, arrays.bases(), found);
    std::stable_sort(found.first.begin(), found.first.end(),
                     [](const StaleGhost& a, const StaleGhost& b) { return a.field < b.field; });
    return found;
}

void StaleCheck::compare(const PackedCells& cells, Bases arrays, StaleGhosts& found) {
    std::byte* const there = cells.values.get();
    cells.take(plan_, arrays, here_.get());
    cells.take(plan_, plan_.bases.data(), there);
    for (byte_count at = 0; (at = first_difference(cells.layout, here_.get(), there, at)) >= 0;) {
        const ValuePlace place = value_at(plan_, cells.layout, at);
        at = place.first + place.size;
        if (++found.count[place.f] > static_cast<global_index>(StaleGhosts::most_told)) continue;
        const Element& element = plan_.fields[place.f].element;
        const std::string own = value_text(element, here_.get() + place.first),
                          owners = value_text(element, there + place.first);
        StaleGhost& ghost = found.first.emplace_back(
            StaleGhost{place.f, cells.rank, place.cell, place.component, own, owners});
        ghost.text = field_name(plan_, place.f) + ": the ghost of " + to_string(plan_, place) +
                     " of rank " + std::to_string(cells.rank) + " is " + ghost.here + " on rank " +
                     std::to_string(plan_.communicator().rank()) + " and " + ghost.there +
                     " on its owner";
    }
}

}  // namespace parhelion
