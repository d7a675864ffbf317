// What the handles of one array share.
#pragma once

#include <algorithm>
#include <string>

#include "ghosts/ragged_places.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/ghosts/ghost_rows.hpp"

namespace parhelion {

inline GhostRows::Memory allocate_rows(byte_count bytes) { return {allocate_node_shared(std::max<byte_count>(bytes, 1)), bytes}; }

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
        ghosts = {memory.start.get() + map.owned() * layout.stride(), layout.stride(), memory.start};
    }
    void resize_padded(local_index row, global_index entries) {
        if (row < 0 || row >= map.size())
            throw Error("row " + std::to_string(row) + " does not exist: this rank has " + std::to_string(map.size()) + " rows and ghosts");
        if (entries < 0 || entries > layout.width)
            throw Error("row " + std::to_string(row) + " cannot have " + std::to_string(entries) + " entries: padded rows have from 0 to " +
                        std::to_string(layout.width));
        reinterpret_cast<local_index*>(sizes.start.get())[row] = static_cast<local_index>(entries);
    }
    void require_ragged(const char* what) const {
        if (layout.kind != RowKind::ragged)
            throw Error(std::string(what) + " is for ragged rows: these have the same size for good, or room for it", ErrorKind::type);
    }
    void require_unseen() const {
        if (memory.start.use_count() > 1)
            throw Error(
                "these rows cannot move: views of them exist, or an exchange of them is under way. Let go of the views "
                "(`del`, also of a loop's variable), end the exchange");
    }
    // Rows move to where `spans` says; those that exist in both keep their entries.
    void move_to(RaggedPlaces next) {
        Memory fresh = allocate_rows(next.bytes);
        next.copy_from(ragged, memory.start.get(), fresh.start.get());
        memory = std::move(fresh);
        ragged = std::move(next);
        ++generation;
    }
};

}  // namespace parhelion
