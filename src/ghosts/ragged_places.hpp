// Where ragged rows lie, and what they hold while they are edited.
#pragma once

#include <memory>
#include <vector>

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
    RaggedPlaces(const RowLayout& layout, const std::vector<local_index>& sizes, local_index owned_rows);

    const RowSpan& span(local_index row) const;
    byte_count row_bytes(local_index row) const;
    std::byte* edited_row(local_index row) const;
    std::vector<local_index> sizes(const RowLayout& layout) const;

    void begin_editing(const std::byte* memory);
    /// Takes over the rows of `before`, edited or not, as far as both reach; `to` is this one's memory, zeroed.
    void copy_from(const RaggedPlaces& before, const std::byte* from, std::byte* to) const;
};

/// Collective: overwrites the ghosts' sizes of each list by their owners'.
void fetch_sizes(const GhostMap& map, std::vector<std::vector<local_index>>& sizes);

}  // namespace parhelion
