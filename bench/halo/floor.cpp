// The floors: the time in which processes copy the same regions straight between shared arrays,
// with one flag each way.
//
// It is not an exchange that a program could use. Nothing tells a rank that its neighbor still
// reads the ghosts, or the owned cells, of the step before: the one flag says only that this step's
// copies are done (put) or may begin (get). Its own checks therefore hold the ranks together by a
// barrier between steps. What is left is what any exchange must do: read and write every byte once,
// and learn that the other side has done its part.

#include <algorithm>
#include <map>

#include "halo/by_hand.hpp"
#include "halo/messages.hpp"

namespace parhelion::bench {

namespace {

// Each rank writes into its neighbors' ghosts, or reads from their cells; `packed`: as put, but
// regions of short runs go through a dense buffer that the reader unpacks, for a thin face that is
// cut across memory costs a cache line per cell where it is copied straight.
enum class How { put, get, packed };

/// What one step copies. Steps alternate between two such lists, so that dense buffers are not
/// written while being read.
struct Step {
    std::vector<LocalCopy> before_flag, while_waiting, after_flag;
};

bool has_short_runs(const Region& region) {
    constexpr std::size_t cache_line = 64;
    return region.run_bytes < cache_line;
}

/// The region's bytes, dense, from `start` on.
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

class HaloFloor : public Variant {
public:
    HaloFloor(const HaloSetup& setup, How how)
        : geometry_(setup.geometry), how_(how),
          places_(dense_places(geometry_, setup.params.fields, dense_bytes_)),
          memory_(std::make_shared<OpenMemory>(setup.comm, setup.params.fields, setup.bytes())),
          buffers_(setup.comm, 2, dense_bytes_), arrays_(geometry_, setup.params, memory_) {
        for (int parity : {0, 1})
            for (const Offset& offset : neighbor_offsets(geometry_))
                for (int f = 0; f < arrays_.fields(); ++f)
                    add_copies(steps_[parity], parity, offset, f);
    }

    Values& values() override { return arrays_; }
    Traffic traffic() const override { return traffic_; }
    bool needs_barrier_between_steps() const override { return true; }

    void exchange() override {
        const Step& step = steps_[++count_ % 2];
        copy_local(step.before_flag);
        memory_->post(count_);
        copy_local(step.while_waiting);
        for (int rank : neighbors_) memory_->wait_for(rank, count_);
        copy_local(step.after_flag);
    }

private:
    void add_copies(Step& step, int parity, const Offset& offset, int field) {
        const int rank = *neighbor_rank(geometry_, offset);
        const Region mine = region_of(geometry_, send_box(geometry_, offset), arrays_.field(field));
        const Region ghosts =
            region_of(geometry_, ghost_box(geometry_, offset), arrays_.field(field));
        const Region sent = region_of(geometry_, send_box(geometry_, opposite(offset)),
                                      memory_->block_of(rank, field));
        const Region target = region_of(geometry_, ghost_box(geometry_, opposite(offset)),
                                        memory_->block_of(rank, field));
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
        if (std::find(neighbors_.begin(), neighbors_.end(), rank) == neighbors_.end())
            neighbors_.push_back(rank);
    }

    HaloGeometry geometry_;
    How how_;
    std::size_t dense_bytes_ = 0;
    std::map<int, std::size_t> places_;
    std::shared_ptr<OpenMemory> memory_;
    OpenMemory buffers_;
    HaloArrays arrays_;
    Step steps_[2];
    std::vector<int> neighbors_;
    Traffic traffic_;
    std::uint32_t count_ = 0;
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
