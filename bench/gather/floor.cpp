#include "gather/by_hand.hpp"

namespace parhelion::bench {

namespace {

/// Listed cells of one rank's array, to a row of ghosts of another's.
struct ListedCopy {
    const std::byte* cells;
    const int* index;
    std::size_t count;
    std::byte* ghosts;
};

std::vector<ListedCopy> puts(const GatherSetup& setup, const IndexLists& lists,
                             const OpenMemory& memory) {
    const std::vector<std::int64_t> places = places_at_targets(setup.comm, *setup.domain, lists);
    std::vector<ListedCopy> copies;
    for (std::size_t t = 0; t < lists.targets.size(); ++t)
        copies.push_back({memory.block(0), lists.cells.data() + lists.send_offset[t],
                          lists.sent_to(t),
                          memory.block_of(lists.targets[t], 0) +
                              static_cast<std::size_t>(places[t]) * setup.params.cell_bytes()});
    return copies;
}

std::vector<ListedCopy> gets(const IndexLists& lists, const std::vector<int>& cells,
                             const OpenMemory& memory, const GatherArray& array) {
    std::vector<ListedCopy> copies;
    for (std::size_t s = 0; s < lists.sources.size(); ++s)
        copies.push_back({memory.block_of(lists.sources[s], 0),
                          cells.data() + lists.ghost_offset[s], lists.read_from(s),
                          array.ghosts() + lists.ghost_offset[s] * array.cell_bytes()});
    return copies;
}

class GatherFloor : public HandGather {
public:
    GatherFloor(const GatherSetup& setup, IndexLists lists, bool puts_cells)
        : GatherFloor(setup, std::move(lists),
                      std::make_shared<OpenMemory>(setup.comm, 1, setup.bytes()), puts_cells) {}

    Traffic traffic() const override { return {HandGather::traffic().bytes, 0}; }
    bool needs_barrier_between_steps() const override { return true; }

    void exchange() override {
        ++step_;
        if (puts_) run_copies();
        memory_->post(step_);
        for (int rank : lists_.sources) memory_->wait_for(rank, step_);
        if (!puts_) run_copies();
    }

private:
    GatherFloor(const GatherSetup& setup, IndexLists lists, std::shared_ptr<OpenMemory> memory,
                bool puts_cells)
        : HandGather(setup.array_in(memory), std::move(lists)), memory_(std::move(memory)),
          puts_(puts_cells) {
        if (!puts_) cells_at_owners_ = cells_at_owners(setup.comm, *setup.domain);
        copies_ = puts_ ? puts(setup, lists_, *memory_)
                        : gets(lists_, cells_at_owners_, *memory_, *array_);
    }

    void run_copies() {
        for (const ListedCopy& c : copies_)
            pack_cells(c.cells, c.index, c.count, array_->cell_bytes(), c.ghosts);
    }

    std::shared_ptr<OpenMemory> memory_;
    bool puts_;
    std::vector<int> cells_at_owners_;
    std::vector<ListedCopy> copies_;
    std::uint32_t step_ = 0;
};

constexpr TableRow<GatherSetup> floors[] = {
    {"floor_put", "floor", make_of_lists<GatherFloor, true>},
    {"floor_get", "floor", make_of_lists<GatherFloor, false>},
};

}  // namespace

void add_floors(std::vector<Entry>& entries, const GatherSetup& setup) {
    add_rows(entries, floors, setup);
}

}  // namespace parhelion::bench
