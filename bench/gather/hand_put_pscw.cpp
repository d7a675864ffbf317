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
        MPI_Win_allocate(static_cast<MPI_Aint>(bytes + 64), 1, MPI_INFO_NULL, comm, &start_,
                         &window_);
    }
    ~WindowMemory() override { MPI_Win_free(&window_); }
    std::byte* block(int) const override { return static_cast<std::byte*>(start_); }
    MPI_Win window() const { return window_; }

private:
    void* start_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

class GatherPut : public HandGather {
public:
    GatherPut(const GatherSetup& setup, IndexLists lists)
        : GatherPut(setup, std::move(lists),
                    std::make_shared<WindowMemory>(setup.comm,
                                                   static_cast<std::size_t>(setup.domain->size()) *
                                                       setup.params.cell_bytes())) {}

    ~GatherPut() override {
        for (MPI_Group* group : {&readers_, &owners_})
            if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
    }

    void exchange() override {
        if (!lists_.sources.empty()) MPI_Win_post(owners_, 0, window_);
        if (!lists_.targets.empty()) put_all();
        if (!lists_.sources.empty()) MPI_Win_wait(window_);
    }

private:
    GatherPut(const GatherSetup& setup, IndexLists lists,
              const std::shared_ptr<WindowMemory>& memory)
        : HandGather(std::make_shared<GatherArray>(setup.params, setup.domain, memory),
                     std::move(lists)),
          window_(memory->window()), places_(places_at_targets(setup.comm, *setup.domain, lists_)),
          buffer_(1, buffer_bytes()), readers_(group_of(setup.comm, lists_.targets)),
          owners_(group_of(setup.comm, lists_.sources)) {}

    void put_all() {
        MPI_Win_start(readers_, 0, window_);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            std::byte* packed = buffer_.block(0) + place_for(t);
            pack_for(t, packed);
            MPI_Put(packed, bytes_for(t), MPI_BYTE, lists_.targets[t],
                    static_cast<MPI_Aint>(places_[t]) * static_cast<MPI_Aint>(array_->cell_bytes()),
                    bytes_for(t), MPI_BYTE, window_);
        }
        MPI_Win_complete(window_);
    }

    MPI_Win window_;                    // of the array's memory
    std::vector<std::int64_t> places_;  // in cells
    PrivateMemory buffer_;
    MPI_Group readers_, owners_;
};

}  // namespace

ContenderPointer make_gather_put(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherPut>(setup, times);
}

}  // namespace parhelion::bench
