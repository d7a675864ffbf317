// A copy of the ghosts' rows.
#pragma once

#include <cstring>
#include <vector>

#include "parhelion/ghosts/ghost_rows.hpp"

namespace parhelion {

class SavedRows {
public:
    explicit SavedRows(const std::vector<GhostRows>& arrays) {
        for_ghosts(arrays, [&](std::byte* row, byte_count bytes) { bytes_.insert(bytes_.end(), row, row + bytes); });
    }
    void restore(const std::vector<GhostRows>& arrays) const {
        const std::byte* next = bytes_.data();
        for_ghosts(arrays, [&](std::byte* row, byte_count bytes) {
            if (bytes > 0) std::memcpy(row, next, static_cast<std::size_t>(bytes));
            next += bytes;
        });
    }

private:
    template <class Visit>
    static void for_ghosts(const std::vector<GhostRows>& arrays, Visit&& visit) {
        for (const GhostRows& array : arrays)
            for (local_index row = array.map().owned(); row < array.map().size(); ++row) {
                const bool whole = array.layout().kind == RowKind::padded;
                visit(array.row(row), array.layout().entry_bytes() * (whole ? array.layout().width : array.row_size(row)));
            }
    }
    std::vector<std::byte> bytes_;
};

}  // namespace parhelion
