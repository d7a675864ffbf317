#include "parhelion/ghosts/ghost_rows.hpp"

#include <cstring>

#include "ghosts/ghost_rows_state.hpp"

namespace parhelion {
namespace {

constexpr auto size_bytes = static_cast<byte_count>(sizeof(local_index));

}  // namespace

GhostRows::GhostRows(GhostMap map, RowLayout layout)
    : state_(std::make_shared<State>(std::move(map), layout)) {
    State& s = *state_;
    const byte_count rows = s.map.size();
    if (layout.kind == RowKind::ragged) {
        s.ragged = RaggedPlaces(layout, std::vector<local_index>(static_cast<std::size_t>(rows)),
                                s.map.owned());
        s.memory = allocate_rows(0);
        return;
    }
    s.memory = allocate_rows(rows * layout.stride());
    s.use_joint_memory();
    if (layout.kind == RowKind::padded) s.sizes = allocate_rows(rows * size_bytes);
}

GhostRows::GhostRows(GhostMap map, RowLayout layout, RowMemory owned, RowMemory ghosts)
    : state_(std::make_shared<State>(std::move(map), layout)) {
    if (layout.kind != RowKind::uniform)
        throw Error(
            "only uniform rows can lie in arrays of the caller: let the others be allocated",
            ErrorKind::type);
    state_->owned = std::move(owned);
    state_->ghosts = std::move(ghosts);
}

GhostRows::GhostRows(GhostMap map, RowLayout layout, std::span<const local_index> sizes,
                     const std::byte* entries)
    : state_(std::make_shared<State>(std::move(map), layout)) {
    State& s = *state_;
    s.require_ragged("a size for every row");
    if (sizes.size() != static_cast<std::size_t>(s.map.owned()))
        throw Error(std::to_string(static_cast<global_index>(sizes.size())) + " row sizes for " +
                    std::to_string(s.map.owned()) + " owned rows: give one for each");
    for (local_index size : sizes)
        if (size < 0) throw Error("a row of " + std::to_string(size) + " entries: give 0 or more");
    std::vector<local_index> all(sizes.begin(), sizes.end());
    all.resize(static_cast<std::size_t>(s.map.size()));
    s.ragged = RaggedPlaces(layout, all, s.map.owned());
    s.memory = allocate_rows(s.ragged.bytes);
    if (entries == nullptr) return;
    for (const RowSpan& row : *s.ragged.owned) {
        std::memcpy(s.memory.start.get() + row.first, entries, static_cast<std::size_t>(row.bytes));
        entries += row.bytes;
    }
}

const GhostMap& GhostRows::map() const { return state_->map; }
const RowLayout& GhostRows::layout() const { return state_->layout; }
bool GhostRows::editing() const { return state_->ragged.editing; }
std::uint64_t GhostRows::generation() const { return state_->generation; }
const GhostRows::Memory& GhostRows::memory() const { return state_->memory; }
const GhostRows::Memory& GhostRows::sizes_memory() const { return state_->sizes; }
RowMemory GhostRows::owned_rows() const { return state_->owned; }
RowMemory GhostRows::ghost_rows() const { return state_->ghosts; }

std::byte* GhostRows::row(local_index index) const {
    const State& s = *state_;
    static_cast<void>(row_size(index));  // the row exists
    if (s.layout.kind == RowKind::ragged)
        return s.ragged.editing ? s.ragged.edited_row(index)
                                : s.memory.start.get() + s.ragged.span(index).first;
    const bool ghost = index >= s.map.owned();
    const RowMemory& rows = ghost ? s.ghosts : s.owned;
    return rows.first + (ghost ? index - s.map.owned() : index) * rows.stride;
}

local_index GhostRows::row_size(local_index index) const {
    const State& s = *state_;
    if (index < 0 || index >= s.map.size())
        throw Error("row " + std::to_string(index) + " does not exist: this rank has " +
                    std::to_string(s.map.owned()) + " owned rows and " +
                    std::to_string(s.map.ghosts()) + " ghosts");
    if (s.layout.kind == RowKind::uniform) return s.layout.width;
    if (s.layout.kind == RowKind::ragged)
        return static_cast<local_index>(s.ragged.row_bytes(index) / s.layout.entry_bytes());
    const local_index size = sizes()[static_cast<std::size_t>(index)];
    if (size < 0 || size > s.layout.width)
        throw Error("row " + std::to_string(index) + " has size " + std::to_string(size) +
                    ": padded rows have from 0 to " + std::to_string(s.layout.width) + " entries");
    return size;
}

std::span<local_index> GhostRows::sizes() const {
    if (state_->layout.kind != RowKind::padded)
        throw Error("sizes that can be written belong to padded rows: ask row_size",
                    ErrorKind::type);
    return {reinterpret_cast<local_index*>(state_->sizes.start.get()),
            static_cast<std::size_t>(state_->map.size())};
}

std::vector<RowSpan> GhostRows::spans() const {
    state_->require_ragged("a place for every row");
    std::vector<RowSpan> all(*state_->ragged.owned);
    all.insert(all.end(), state_->ragged.ghosts->begin(), state_->ragged.ghosts->end());
    return all;
}

namespace {

Field rows_field(const RowLayout& layout, const RowMemory& owned, const RowMemory& ghosts,
                 int components) {
    Field field{layout.element, components, layout.element.size, HaloWidth(0), true, {}};
    for (const RowMemory& rows : {owned, ghosts}) {
        BlockView block;
        block.first = rows.first;
        block.strides[0] = rows.stride;
        field.blocks.push_back(block);
    }
    return field;
}

}  // namespace

std::vector<Field> GhostRows::fields(Direction direction) const {
    const State& s = *state_;
    if (s.layout.kind == RowKind::ragged) {
        const RowMemory all{s.memory.start.get(), 0};
        Field field = rows_field(s.layout, all, all, s.layout.components);
        field.blocks[0].rows = s.ragged.owned;
        field.blocks[1].rows = s.ragged.ghosts;
        return {field};
    }
    std::vector<Field> result{
        rows_field(s.layout, s.owned, s.ghosts, s.layout.components * s.layout.width)};
    if (s.layout.kind == RowKind::padded && direction == Direction::forward) {
        std::byte* sizes = s.sizes.start.get();
        result.push_back(view_cells(sizes, s.map.owned(), sizes + s.map.owned() * size_bytes,
                                    s.map.ghosts(), element_of<local_index>()));
    }
    return result;
}

}  // namespace parhelion
