// What the handles of one array share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/ghosts/ghost_rows.hpp"
#include "parhelion/ghosts/row_layout.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "parhelion/plan/field.hpp"

namespace parhelion {

struct RaggedPlaces {
    std::shared_ptr<const RowSpans> owned, ghosts;
    byte_count bytes = 0;  ///< of all rows together
    bool editing = false;
    std::vector<std::vector<std::byte>> edited;  ///< owned rows, while editing

    RaggedPlaces() = default;
    /// One row behind the other, each at the layout's alignment.
    RaggedPlaces(const RowLayout& layout, const std::vector<local_index>& sizes,
                 local_index owned_rows);

    const RowSpan& span(local_index row) const;
    byte_count row_bytes(local_index row) const;
    std::byte* edited_row(local_index row) const;
    std::vector<local_index> sizes(const RowLayout& layout) const;

    void begin_editing(const std::byte* memory);
    /// Takes over the rows of `before`, edited or not, as far as both reach; `to` is this one's
    /// memory, zeroed.
    void copy_from(const RaggedPlaces& before, const std::byte* from, std::byte* to) const;
};

/// Collective: overwrites the ghosts' sizes of each list by their owners'.
void fetch_sizes(const GhostMap& map, std::vector<std::vector<local_index>>& sizes);

inline GhostRows::Memory allocate_rows(byte_count bytes) {
    return {allocate_node_shared(std::max<byte_count>(bytes, 1)), bytes};
}

struct GhostRows::State {
    GhostMap map;
    RowLayout layout;
    Memory memory{}, sizes{};
    RowMemory owned{}, ghosts{};
    RaggedPlaces ragged{};
    std::uint64_t generation = 1;

    State(GhostMap m, RowLayout l) : map(std::move(m)), layout(l) { check_layout(layout); }

    void use_joint_memory() {
        owned = {memory.start.get(), layout.stride(), memory.start};
        ghosts = {memory.start.get() + map.owned() * layout.stride(), layout.stride(),
                  memory.start};
    }
    void resize_padded(local_index row, global_index entries) {
        if (row < 0 || row >= map.size())
            throw Error("row " + std::to_string(row) + " does not exist: this rank has " +
                        std::to_string(map.size()) + " rows and ghosts");
        if (entries < 0 || entries > layout.width)
            throw Error("row " + std::to_string(row) + " cannot have " + std::to_string(entries) +
                        " entries: padded rows have from 0 to " + std::to_string(layout.width));
        reinterpret_cast<local_index*>(sizes.start.get())[row] = static_cast<local_index>(entries);
    }
    void require_ragged(const char* what) const {
        if (layout.kind != RowKind::ragged)
            throw Error(
                std::string(what) +
                    " is for ragged rows: these have the same size for good, or room for it",
                ErrorKind::type);
    }
    void require_unseen() const {
        if (memory.start.use_count() > 1)
            throw Error(
                "these rows cannot move: views of them exist, or an exchange of them is under way. "
                "Let go of the views "
                "(`del`, also of a loop's variable), end the exchange");
    }
    struct Moved {
        RaggedPlaces places;
        Memory memory;
    };
    // A copy of the rows at other places; those that exist in both keep their entries.
    Moved moved_to(RaggedPlaces next) const {
        Memory fresh = allocate_rows(next.bytes);
        next.copy_from(ragged, memory.start.get(), fresh.start.get());
        return {std::move(next), std::move(fresh)};
    }
    // Once all ranks have theirs.
    void take(Moved moved) noexcept {
        memory = std::move(moved.memory);
        ragged = std::move(moved.places);
        ++generation;
    }
};

}  // namespace parhelion
