#include <algorithm>
#include <map>

#include "halo/by_hand.hpp"
#include "halo/messages.hpp"
#include "kinds.hpp"

namespace parhelion::bench {

namespace {

// Each rank writes into its neighbors' ghosts, or reads from their cells; `packed`: as put, but
// regions of short runs go through a dense buffer that the reader unpacks, for a thin face that is
// cut across memory costs a cache line per cell where it is copied straight.
enum class How { put, get, packed };

bool has_short_runs(const Region& region) {
    constexpr std::size_t cache_line = 64;
    return region.run_bytes < cache_line;
}

Region dense(const Region& like, std::byte* start) {
    Region region = like;
    region.start = start;
    auto stride = static_cast<std::ptrdiff_t>(like.run_bytes);
    for (std::size_t level = 0; level < 3; ++level) {
        region.stride[level] = stride;
        stride *= like.count[level];
    }
    return region;
}

/// Where the dense copies for each offset lie in a rank's buffer: every rank's array has the same
/// shape, and so the same.
std::map<int, std::size_t> dense_places(const HaloGeometry& geometry, int fields,
                                        std::size_t& end) {
    std::map<int, std::size_t> places;
    for (const Offset& offset : all_offsets(geometry)) {
        places[offset_number(offset)] = end;
        const Region region = region_of(geometry, send_box(geometry, offset), nullptr);
        if (has_short_runs(region)) end += region.bytes() * static_cast<std::size_t>(fields);
    }
    return places;
}

class HaloFloor final : public Floor<LocalCopy, HaloArrays> {
public:
    HaloFloor(const HaloSetup& setup, How how)
        : HaloFloor(setup, how,
                    std::make_shared<OpenMemory>(setup.comm, setup.params.fields, setup.bytes())) {}

private:
    HaloFloor(const HaloSetup& setup, How how, std::shared_ptr<OpenMemory> memory)
        : Floor(memory, std::make_shared<HaloArrays>(setup.geometry, setup.params, memory)),
          geometry_(setup.geometry), how_(how),
          places_(dense_places(geometry_, setup.params.fields, dense_bytes_)),
          buffers_(setup.comm, 2, dense_bytes_) {
        for (int parity : {0, 1})
            for (const Offset& offset : neighbor_offsets(geometry_))
                for (int f = 0; f < array_->fields(); ++f)
                    add_copies(steps_[parity], parity, offset, f);
    }

    void add_copies(Step& step, int parity, const Offset& offset, int field) {
        const int rank = *neighbor_rank(geometry_, offset);
        const auto region = [&](const Box& box, std::byte* array) {
            return region_of(geometry_, box, array);
        };
        std::byte *own = array_->field(field), *others = memory_->block_of(rank, field);
        const Region mine = region(send_box(geometry_, offset), own);
        const Region ghosts = region(ghost_box(geometry_, offset), own);
        const Region sent = region(send_box(geometry_, opposite(offset)), others);
        const Region target = region(ghost_box(geometry_, opposite(offset)), others);
        if (rank == geometry_.rank) return step.while_waiting.push_back({sent, ghosts});
        note_neighbor(rank, parity == 0 ? mine.bytes() : 0);
        if (how_ == How::get) {
            step.after_flag.push_back({sent, ghosts});
        } else if (how_ == How::packed && has_short_runs(mine)) {
            step.before_flag.push_back(
                {mine, dense(mine, dense_start(geometry_.rank, parity, offset, field, mine))});
            step.after_flag.push_back(
                {dense(sent, dense_start(rank, parity, opposite(offset), field, sent)), ghosts});
        } else {
            step.before_flag.push_back({mine, target});
        }
    }

    std::byte* dense_start(int rank, int parity, const Offset& offset, int field,
                           const Region& region) const {
        return buffers_.block_of(rank, parity) + places_.at(offset_number(offset)) +
               static_cast<std::size_t>(field) * region.bytes();
    }

    void note_neighbor(int rank, std::size_t bytes) {
        traffic_.bytes += static_cast<std::int64_t>(bytes);
        if (std::find(awaited_.begin(), awaited_.end(), rank) == awaited_.end())
            awaited_.push_back(rank);
    }

    HaloGeometry geometry_;
    How how_;
    std::size_t dense_bytes_ = 0;
    std::map<int, std::size_t> places_;
    OpenMemory buffers_;
};

template <How how>
VariantPointer floor_of(const HaloSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<HaloFloor>(setup, how); });
}

constexpr TableRow<HaloSetup> floors[] = {
    {"floor_put", "floor", floor_of<How::put>},
    {"floor_get", "floor", floor_of<How::get>},
    {"floor_packed", "floor", floor_of<How::packed>},
};

}  // namespace

void add_floors(std::vector<Entry>& entries, const HaloSetup& setup) {
    add_rows(entries, floors, setup);
}

}  // namespace parhelion::bench
