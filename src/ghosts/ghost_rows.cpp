#include "parhelion/ghosts/ghost_rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ghosts/ragged_places.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"

namespace parhelion {
namespace {

std::string number(global_index value) { return std::to_string(value); }

GhostRows::Memory allocate(byte_count bytes) { return {allocate_node_shared(std::max<byte_count>(bytes, 1)), bytes}; }

constexpr auto size_bytes = static_cast<byte_count>(sizeof(local_index));

}  // namespace

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
    void require_ragged(const char* what) const {
        if (layout.kind != RowKind::ragged)
            throw Error(std::string(what) + " is for ragged rows: these have the same size for good, or room for it", ErrorKind::type);
    }
    void require_unseen() const {
        if (memory.start.use_count() > 1)
            throw Error("these rows cannot move: views of them exist, or an exchange of them is under way. Let go of the views "
                        "(`del`, also of a loop's variable), end the exchange");
    }
    // Rows move to where `spans` says; those that exist in both keep their entries.
    void move_to(RaggedPlaces next) {
        Memory fresh = allocate(next.bytes);
        next.copy_from(ragged, memory.start.get(), fresh.start.get());
        memory = std::move(fresh);
        ragged = std::move(next);
        ++generation;
    }
};

GhostRows::GhostRows(GhostMap map, RowLayout layout) : state_(std::make_shared<State>(std::move(map), layout)) {
    State& s = *state_;
    const byte_count rows = s.map.size();
    if (layout.kind == RowKind::ragged) {
        s.ragged = RaggedPlaces(layout, std::vector<local_index>(static_cast<std::size_t>(rows)), s.map.owned());
        s.memory = allocate(0);
        return;
    }
    s.memory = allocate(rows * layout.stride());
    s.use_joint_memory();
    if (layout.kind == RowKind::padded) s.sizes = allocate(rows * size_bytes);
}

GhostRows::GhostRows(GhostMap map, RowLayout layout, RowMemory owned, RowMemory ghosts)
    : state_(std::make_shared<State>(std::move(map), layout)) {
    if (layout.kind != RowKind::uniform)
        throw Error("only uniform rows can lie in arrays of the caller: let the others be allocated", ErrorKind::type);
    state_->owned = std::move(owned);
    state_->ghosts = std::move(ghosts);
}

GhostRows::GhostRows(GhostMap map, RowLayout layout, std::span<const local_index> sizes, const std::byte* entries)
    : state_(std::make_shared<State>(std::move(map), layout)) {
    State& s = *state_;
    s.require_ragged("a size for every row");
    if (sizes.size() != static_cast<std::size_t>(s.map.owned()))
        throw Error(number(static_cast<global_index>(sizes.size())) + " row sizes for " + number(s.map.owned()) +
                    " owned rows: give one for each");
    for (local_index size : sizes)
        if (size < 0) throw Error("a row of " + number(size) + " entries: give 0 or more");
    std::vector<local_index> all(sizes.begin(), sizes.end());
    all.resize(static_cast<std::size_t>(s.map.size()));
    s.ragged = RaggedPlaces(layout, all, s.map.owned());
    s.memory = allocate(s.ragged.bytes);
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
        return s.ragged.editing ? s.ragged.edited_row(index) : s.memory.start.get() + s.ragged.span(index).first;
    const bool ghost = index >= s.map.owned();
    const RowMemory& rows = ghost ? s.ghosts : s.owned;
    return rows.first + (ghost ? index - s.map.owned() : index) * rows.stride;
}

local_index GhostRows::row_size(local_index index) const {
    const State& s = *state_;
    if (index < 0 || index >= s.map.size())
        throw Error("row " + number(index) + " does not exist: this rank has " + number(s.map.owned()) + " owned rows and " +
                    number(s.map.ghosts()) + " ghosts");
    if (s.layout.kind == RowKind::uniform) return s.layout.width;
    if (s.layout.kind == RowKind::ragged)
        return static_cast<local_index>(s.ragged.row_bytes(index) / s.layout.entry_bytes());
    const local_index size = sizes()[static_cast<std::size_t>(index)];
    if (size < 0 || size > s.layout.width)
        throw Error("row " + number(index) + " has size " + number(size) + ": padded rows have from 0 to " + number(s.layout.width) +
                    " entries");
    return size;
}

std::span<local_index> GhostRows::sizes() const {
    if (state_->layout.kind != RowKind::padded)
        throw Error("sizes that can be written belong to padded rows: ask row_size", ErrorKind::type);
    return {reinterpret_cast<local_index*>(state_->sizes.start.get()), static_cast<std::size_t>(state_->map.size())};
}

std::vector<RowSpan> GhostRows::spans() const {
    state_->require_ragged("a place for every row");
    std::vector<RowSpan> all(*state_->ragged.owned);
    all.insert(all.end(), state_->ragged.ghosts->begin(), state_->ragged.ghosts->end());
    return all;
}

void GhostRows::edit() {
    state_->require_ragged("edit");
    if (state_->ragged.editing) throw Error("these rows are being edited: compress them first");
    state_->ragged.begin_editing(state_->memory.start.get());
}

void GhostRows::resize(local_index row, global_index entries) {
    State& s = *state_;
    s.require_ragged("resize");
    if (!s.ragged.editing) throw Error("row " + number(row) + " cannot change its size now: call edit first, and compress when done");
    if (row < 0 || row >= s.map.owned())
        throw Error("row " + number(row) + " is not owned: sizes of the " + number(s.map.owned()) + " owned rows can change");
    if (entries < 0 || entries > std::numeric_limits<local_index>::max())
        throw Error("a row of " + number(entries) + " entries: give 0 or more, and fewer than 2^31");
    s.ragged.edited[static_cast<std::size_t>(row)].resize(static_cast<std::size_t>(entries * s.layout.entry_bytes()));
}

void GhostRows::compress() {
    State& s = *state_;
    validate_together(s.map.communicator(), [&] {
        s.require_ragged("compress");
        if (!s.ragged.editing) throw Error("these rows are not being edited: call edit before compress, on every rank");
        s.require_unseen();
    });
    validate_together(s.map.communicator(), [&] {
        std::vector<local_index> sizes;
        for (local_index row = 0; row < s.map.size(); ++row)
            sizes.push_back(static_cast<local_index>(
                (row < s.map.owned() ? s.ragged.row_bytes(row) : s.ragged.span(row).bytes) / s.layout.entry_bytes()));
        s.move_to(RaggedPlaces(s.layout, sizes, s.map.owned()));
    });
}

void GhostRows::rebind(RowMemory owned, RowMemory ghosts) {
    State& s = *state_;
    validate_together(s.map.communicator(), [&] {
        if (s.memory.start) throw Error("these rows own their memory: only rows made over the caller's arrays can be rebound", ErrorKind::type);
        if ((owned.first == nullptr && s.map.owned() > 0) || (ghosts.first == nullptr && s.map.ghosts() > 0))
            throw Error("rows cannot be rebound to a null pointer: allocate the memory first");
    });
    s.owned = std::move(owned);
    s.ghosts = std::move(ghosts);
    ++s.generation;
}

namespace {

Field rows_field(const RowLayout& layout, const RowMemory& owned, const RowMemory& ghosts, int components) {
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
    std::vector<Field> result{rows_field(s.layout, s.owned, s.ghosts, s.layout.components * s.layout.width)};
    if (s.layout.kind == RowKind::padded && direction == Direction::forward) {
        std::byte* sizes = s.sizes.start.get();
        result.push_back(view_cells(sizes, s.map.owned(), sizes + s.map.owned() * size_bytes, s.map.ghosts(),
                                    element_of<local_index>()));
    }
    return result;
}

void refresh_sizes(const GhostMap& map, std::span<GhostRows> arrays) {
    std::vector<GhostRows::State*> ragged;
    for (GhostRows& array : arrays)
        if (array.layout().kind == RowKind::ragged) ragged.push_back(array.state_.get());
    if (ragged.empty()) return;
    validate_together(map.communicator(), [&] {
        for (const auto* s : ragged)
            if (s->ragged.editing) throw Error("ragged rows are being edited: compress them before they are exchanged");
    });
    std::vector<std::vector<local_index>> sizes;
    for (const auto* s : ragged) sizes.push_back(s->ragged.sizes(s->layout));
    fetch_sizes(map, sizes);
    validate_together(map.communicator(), [&] {
        for (std::size_t i = 0; i < ragged.size(); ++i)
            if (ragged[i]->ragged.sizes(ragged[i]->layout) != sizes[i]) ragged[i]->require_unseen();
    });
    validate_together(map.communicator(), [&] {
        for (std::size_t i = 0; i < ragged.size(); ++i)
            if (ragged[i]->ragged.sizes(ragged[i]->layout) != sizes[i])
                ragged[i]->move_to(RaggedPlaces(ragged[i]->layout, sizes[i], map.owned()));
    });
    for (auto* s : ragged) ++s->generation;  // on every rank, whether or not its own rows have moved
}

}  // namespace parhelion
