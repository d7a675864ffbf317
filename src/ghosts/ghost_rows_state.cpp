#include "ghosts/ghost_rows_state.hpp"

#include <cstring>

#include "parhelion/exchange/exchange.hpp"

namespace parhelion {

RaggedPlaces::RaggedPlaces(const RowLayout& layout, const std::vector<local_index>& sizes,
                           local_index owned_rows) {
    RowSpans all;
    all.reserve(sizes.size());
    for (local_index size : sizes) {
        all.push_back({bytes, size * layout.entry_bytes()});
        bytes += layout.aligned(all.back().bytes);
    }
    const auto split = all.begin() + owned_rows;
    owned = std::make_shared<const RowSpans>(all.begin(), split);
    ghosts = std::make_shared<const RowSpans>(split, all.end());
}

const RowSpan& RaggedPlaces::span(local_index row) const {
    const auto index = static_cast<std::size_t>(row);
    return index < owned->size() ? (*owned)[index] : (*ghosts)[index - owned->size()];
}

byte_count RaggedPlaces::row_bytes(local_index row) const {
    if (!editing) return span(row).bytes;
    const auto index = static_cast<std::size_t>(row);
    return index < edited.size() ? static_cast<byte_count>(edited[index].size()) : 0;
}

std::byte* RaggedPlaces::edited_row(local_index row) const {
    const auto index = static_cast<std::size_t>(row);
    return index < edited.size() ? const_cast<std::byte*>(edited[index].data()) : nullptr;
}

std::vector<local_index> RaggedPlaces::sizes(const RowLayout& layout) const {
    std::vector<local_index> result;
    result.reserve(owned->size() + ghosts->size());
    for (const auto* part : {owned.get(), ghosts.get()})
        for (const RowSpan& row : *part)
            result.push_back(static_cast<local_index>(row.bytes / layout.entry_bytes()));
    return result;
}

void RaggedPlaces::begin_editing(const std::byte* memory) {
    edited.clear();
    for (const RowSpan& row : *owned)
        edited.emplace_back(memory + row.first, memory + row.first + row.bytes);
    editing = true;
}

void RaggedPlaces::copy_from(const RaggedPlaces& before, const std::byte* from,
                             std::byte* to) const {
    const auto rows = static_cast<local_index>(owned->size() + ghosts->size());
    for (local_index row = 0; row < rows; ++row) {
        const bool was_edited = before.editing && row < static_cast<local_index>(owned->size());
        const std::byte* source =
            was_edited ? before.edited_row(row) : from + before.span(row).first;
        const byte_count there = was_edited ? before.row_bytes(row) : before.span(row).bytes;
        const auto kept = static_cast<std::size_t>(std::min(span(row).bytes, there));
        if (kept > 0) std::memcpy(to + span(row).first, source, kept);
    }
}

void fetch_sizes(const GhostMap& map, std::vector<std::vector<local_index>>& sizes) {
    std::vector<Field> fields;
    for (auto& list : sizes) {
        auto* owned = reinterpret_cast<std::byte*>(list.data());
        auto* ghosts = reinterpret_cast<std::byte*>(list.data() + map.owned());
        fields.push_back(
            view_cells(owned, map.owned(), ghosts, map.ghosts(), element_of<local_index>()));
    }
    Exchange(map.pattern(), std::move(fields), {.transport = "mpi"})();
}

}  // namespace parhelion
