// Rows that change their size or their place.
#include <limits>

#include "ghosts/ghost_rows_state.hpp"
#include "parhelion/core/collective.hpp"

namespace parhelion {

void GhostRows::edit() {
    state_->require_ragged("edit");
    if (state_->ragged.editing) throw Error("these rows are being edited: compress them first");
    state_->ragged.begin_editing(state_->memory.start.get());
}

void GhostRows::resize(local_index row, global_index entries) {
    State& s = *state_;
    if (s.layout.kind == RowKind::padded) return s.resize_padded(row, entries);
    s.require_ragged("resize");
    if (!s.ragged.editing)
        throw Error("row " + std::to_string(row) +
                    " cannot change its size now: call edit first, and compress when done");
    if (row < 0 || row >= s.map.owned())
        throw Error("row " + std::to_string(row) + " is not owned: sizes of the " +
                    std::to_string(s.map.owned()) + " owned rows can change");
    if (entries < 0 || entries > std::numeric_limits<local_index>::max())
        throw Error("a row of " + std::to_string(entries) +
                    " entries: give 0 or more, and fewer than 2^31");
    s.ragged.edited[static_cast<std::size_t>(row)].resize(
        static_cast<std::size_t>(entries * s.layout.entry_bytes()));
}

void GhostRows::compress() {
    State& s = *state_;
    s.take(collectively(s.map.communicator(), "compress", [&] {
        s.require_ragged("compress");
        if (!s.ragged.editing)
            throw Error(
                "these rows are not being edited: call edit before compress, on every rank");
        s.require_unseen();
        std::vector<local_index> sizes;
        for (local_index row = 0; row < s.map.size(); ++row)
            sizes.push_back(static_cast<local_index>(
                (row < s.map.owned() ? s.ragged.row_bytes(row) : s.ragged.span(row).bytes) /
                s.layout.entry_bytes()));
        return s.moved_to(RaggedPlaces(s.layout, sizes, s.map.owned()));
    }));
}

void GhostRows::rebind(RowMemory owned, RowMemory ghosts) {
    State& s = *state_;
    collectively(s.map.communicator(), "rebind", [&] {
        if (s.memory.start)
            throw Error(
                "these rows own their memory: only rows made over the caller's arrays can be "
                "rebound",
                ErrorKind::type);
        if ((owned.first == nullptr && s.map.owned() > 0) ||
            (ghosts.first == nullptr && s.map.ghosts() > 0))
            throw Error("rows cannot be rebound to a null pointer: allocate the memory first");
    });
    s.owned = std::move(owned);
    s.ghosts = std::move(ghosts);
    ++s.generation;
}

void refresh_sizes(const GhostMap& map, std::span<GhostRows> arrays) {
    std::vector<GhostRows::State*> ragged;
    for (GhostRows& array : arrays)
        if (array.layout().kind == RowKind::ragged) ragged.push_back(array.state_.get());
    if (ragged.empty()) return;
    for (const auto* s : ragged)
        if (s->ragged.editing)
            throw Error("ragged rows are being edited: compress them before they are exchanged");
    std::vector<std::vector<local_index>> sizes;
    for (const auto* s : ragged) sizes.push_back(s->ragged.sizes(s->layout));
    fetch_sizes(map, sizes);
    for (std::size_t i = 0; i < ragged.size(); ++i)
        if (ragged[i]->ragged.sizes(ragged[i]->layout) != sizes[i]) ragged[i]->require_unseen();
    std::vector<std::pair<GhostRows::State*, GhostRows::State::Moved>> moved;
    validate_together(map.communicator(), [&] {
        for (std::size_t i = 0; i < ragged.size(); ++i)
            if (ragged[i]->ragged.sizes(ragged[i]->layout) != sizes[i])
                moved.emplace_back(ragged[i], ragged[i]->moved_to(RaggedPlaces(
                                                  ragged[i]->layout, sizes[i], map.owned())));
    });
    for (auto& [rows, places] : moved) rows->take(std::move(places));
    for (auto* s : ragged)
        ++s->generation;  // on every rank, whether or not its own rows have moved
}

}  // namespace parhelion
