#include "gather/baselines.hpp"

namespace parhelion::bench {

namespace {

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
    MPI_Group_free(&all);
    return some;
}

/// An array in window memory: MPI can then store into it directly from another process of the node.
class WindowMemory : public Memory {
public:
    WindowMemory(MPI_Comm comm, std::size_t bytes) {
        MPI_Win_allocate(static_cast<MPI_Aint>(bytes + 64), 1, MPI_INFO_NULL, comm, &start_, &window_);
    }
    ~WindowMemory() override { MPI_Win_free(&window_); }
    std::byte* block(int) const override { return static_cast<std::byte*>(start_); }
    MPI_Win window() const { return window_; }

private:
    void* start_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

class GatherPut : public Contender {
public:
    GatherPut(const GatherSetup& setup, IndexLists lists)
        : lists_(std::move(lists)), places_(places_at_targets(setup.comm, *setup.domain, lists_)),
          memory_(std::make_shared<WindowMemory>(setup.comm, static_cast<std::size_t>(setup.domain->size()) * setup.params.cell_bytes())),
          array_(setup.params, setup.domain, memory_), buffer_(1, lists_.cells.size() * setup.params.cell_bytes()),
          readers_(group_of(setup.comm, lists_.targets)), owners_(group_of(setup.comm, lists_.sources)) {}

    ~GatherPut() override {
        for (MPI_Group* group : {&readers_, &owners_})
            if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
    }

    void exchange() override {
        const MPI_Win window = memory_->window();
        if (!lists_.sources.empty()) MPI_Win_post(owners_, 0, window);
        if (!lists_.targets.empty()) put_all(window);
        if (!lists_.sources.empty()) MPI_Win_wait(window);
    }

    Values& values() override { return array_; }
    Traffic traffic() const override { return traffic_of(lists_, array_.cell_bytes()); }

private:
    void put_all(MPI_Win window) {
        const std::size_t bytes = array_.cell_bytes();
        MPI_Win_start(readers_, 0, window);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            std::byte* packed = buffer_.block(0) + lists_.send_offset[t] * bytes;
            pack_cells(array_.cells(), lists_.cells.data() + lists_.send_offset[t], lists_.sent_to(t), bytes, packed);
            const auto count = static_cast<int>(lists_.sent_to(t) * bytes);
            MPI_Put(packed, count, MPI_BYTE, lists_.targets[t], static_cast<MPI_Aint>(places_[t]) * static_cast<MPI_Aint>(bytes), count,
                    MPI_BYTE, window);
        }
        MPI_Win_complete(window);
    }

    IndexLists lists_;
    std::vector<std::int64_t> places_;  // in cells
    std::shared_ptr<WindowMemory> memory_;
    GatherArray array_;
    PrivateMemory buffer_;
    MPI_Group readers_, owners_;
};

}  // namespace

ContenderPointer make_gather_put(const GatherSetup& setup, SetupTimes& times) { return make_of_lists<GatherPut>(setup, times); }

}  // namespace parhelion::bench
