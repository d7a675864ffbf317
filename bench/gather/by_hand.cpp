#include "gather/by_hand.hpp"

#include <cstring>

#include "mpi_handles.hpp"
#include "nodes.hpp"

namespace parhelion::bench {

namespace {

/// Has a buffer for all cells that are sent, target after target.
class PackedGather : public HandGather {
public:
    PackedGather(const GatherSetup& setup, IndexLists lists)
        : PackedGather(setup.array, std::move(lists)) {}
    PackedGather(std::shared_ptr<GatherArray> array, IndexLists lists)
        : HandGather(std::move(array), std::move(lists)),
          buffer_(1, lists_.cells.size() * array_->cell_bytes()) {}

protected:
    std::byte* buffer(std::size_t target) const {
        return buffer_.block(0) + lists_.send_offset[target] * array_->cell_bytes();
    }
    std::byte* packed(std::size_t target) const {
        pack(target, buffer(target));
        return buffer(target);
    }

    PrivateMemory buffer_;
};

class NeighborAlltoallvGather : public PackedGather {
public:
    NeighborAlltoallvGather(const GatherSetup& setup, IndexLists lists)
        : PackedGather(setup, std::move(lists)), sent_(lists_.send_offset, array_->cell_bytes()),
          received_(lists_.ghost_offset, array_->cell_bytes()),
          neighborhood_(setup.comm, lists_.sources, lists_.targets) {}

    void exchange() override {
        pack_cells(array_->cells(), lists_.cells.data(), lists_.cells.size(), array_->cell_bytes(),
                   buffer_.block(0));
        MPI_Neighbor_alltoallv(buffer_.block(0), sent_.counts.data(), sent_.offsets.data(),
                               MPI_BYTE, array_->ghosts(), received_.counts.data(),
                               received_.offsets.data(), MPI_BYTE, neighborhood_.get());
    }

private:
    /// Counts and offsets in bytes; one spare entry, so that data() is valid without neighbors.
    struct Layout {
        std::vector<int> counts, offsets;
        Layout(const std::vector<std::size_t>& cell_offsets, std::size_t cell_bytes) {
            for (std::size_t cell : cell_offsets)
                offsets.push_back(static_cast<int>(cell * cell_bytes));
            for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
                counts.push_back(offsets[i + 1] - offsets[i]);
            counts.push_back(0);
        }
    };

    Layout sent_, received_;
    Neighborhood neighborhood_;
};

class PersistentGather : public PackedGather {
public:
    PersistentGather(const GatherSetup& setup, IndexLists lists)
        : PackedGather(setup, std::move(lists)) {
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Recv_init(ghosts_from(s), bytes_from(s), MPI_BYTE, lists_.sources[s], 0, setup.comm,
                          receives_.add());
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            MPI_Send_init(buffer(t), bytes_to(t), MPI_BYTE, lists_.targets[t], 0, setup.comm,
                          sends_.add());
    }

    void exchange() override {
        receives_.start_all();
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            packed(t);
            sends_.start(t);
        }
        receives_.wait_all();
        sends_.wait_all();
    }

private:
    PersistentRequests receives_, sends_;
};

class IsendGather : public PackedGather {
public:
    IsendGather(const GatherSetup& setup, IndexLists lists)
        : PackedGather(setup, std::move(lists)), comm_(setup.comm),
          requests_(lists_.sources.size() + lists_.targets.size()) {}

    void exchange() override {
        MPI_Request* request = requests_.data();
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            MPI_Irecv(ghosts_from(s), bytes_from(s), MPI_BYTE, lists_.sources[s], 0, comm_,
                      request++);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            MPI_Isend(packed(t), bytes_to(t), MPI_BYTE, lists_.targets[t], 0, comm_, request++);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;
};

class NeighborAlltoallwGather : public HandGather {
public:
    NeighborAlltoallwGather(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup.array, std::move(lists)), cell_(contiguous_bytes(array_->cell_bytes())),
          ones_(lists_.targets.size() + lists_.sources.size() + 1, 1), zeros_(ones_.size(), 0),
          neighborhood_(setup.comm, lists_.sources, lists_.targets) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) {
            MPI_Type_create_indexed_block(static_cast<int>(lists_.sent_to(t)), 1,
                                          lists_.cells.data() + lists_.send_offset[t], cell_,
                                          &type);
            sent_.add(type);
        }
        for (std::size_t s = 0; s < lists_.sources.size(); ++s) {
            MPI_Type_contiguous(static_cast<int>(lists_.read_from(s)), cell_, &type);
            received_.add(type);
            ghosts_at_.push_back(ghosts_from(s) - array_->ghosts());
        }
        MPI_Type_free(&cell_);
    }

    void exchange() override {
        MPI_Neighbor_alltoallw(array_->cells(), ones_.data(), zeros_.data(), sent_.data(),
                               array_->ghosts(), ones_.data(), ghosts_at_.data(), received_.data(),
                               neighborhood_.get());
    }

private:
    MPI_Datatype cell_;
    Datatypes sent_, received_;
    std::vector<int> ones_;
    std::vector<MPI_Aint> zeros_, ghosts_at_;
    Neighborhood neighborhood_;
};

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

/// Straight into the reader's ghosts, synchronized by post, start, complete and wait.
class PutGather : public PackedGather {
public:
    PutGather(const GatherSetup& setup, IndexLists lists)
        : PutGather(setup, std::move(lists),
                    std::make_shared<WindowMemory>(setup.comm, setup.bytes())) {}

    ~PutGather() override {
        for (MPI_Group* group : {&readers_, &owners_})
            if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
    }

    void exchange() override {
        if (!lists_.sources.empty()) MPI_Win_post(owners_, 0, window_);
        if (!lists_.targets.empty()) put_all();
        if (!lists_.sources.empty()) MPI_Win_wait(window_);
    }

private:
    PutGather(const GatherSetup& setup, IndexLists lists,
              const std::shared_ptr<WindowMemory>& memory)
        : PackedGather(setup.array_in(memory), std::move(lists)), window_(memory->window()),
          places_(places_at_targets(setup.comm, *setup.domain, lists_)),
          readers_(group_of(setup.comm, lists_.targets)),
          owners_(group_of(setup.comm, lists_.sources)) {}

    void put_all() {
        MPI_Win_start(readers_, 0, window_);
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            MPI_Put(packed(t), bytes_to(t), MPI_BYTE, lists_.targets[t],
                    static_cast<MPI_Aint>(places_[t]) * static_cast<MPI_Aint>(array_->cell_bytes()),
                    bytes_to(t), MPI_BYTE, window_);
        MPI_Win_complete(window_);
    }

    MPI_Win window_;                    // of the array's memory
    std::vector<std::int64_t> places_;  // in cells
    MPI_Group readers_, owners_;
};

/// Three steps to other nodes, see NodeAreas; messages within the node.
class NodesGather : public PackedGather {
public:
    NodesGather(const GatherSetup& setup, IndexLists lists)
        : PackedGather(setup, std::move(lists)), comm_(setup.comm), areas_(setup.comm) {
        std::vector<NodeAreas::Part> sends, receives;
        for (std::size_t t = 0; t < lists_.targets.size(); ++t)
            sort_in(t, lists_.targets[t], bytes_to(t), near_targets_, far_targets_, sends);
        for (std::size_t s = 0; s < lists_.sources.size(); ++s)
            sort_in(s, lists_.sources[s], bytes_from(s), near_sources_, far_sources_, receives);
        areas_.lay_out(sends, receives);
        requests_.resize(near_targets_.size() + near_sources_.size());
    }

    void exchange() override {
        areas_.post_receives();
        MPI_Request* request = requests_.data();
        for (std::size_t s : near_sources_)
            MPI_Irecv(ghosts_from(s), bytes_from(s), MPI_BYTE, lists_.sources[s], 0, comm_,
                      request++);
        for (std::size_t i = 0; i < far_targets_.size(); ++i)
            pack(far_targets_[i], areas_.to_send(i));
        areas_.send();
        for (std::size_t t : near_targets_)
            MPI_Isend(packed(t), bytes_to(t), MPI_BYTE, lists_.targets[t], 0, comm_, request++);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        areas_.await_receives();
        for (std::size_t i = 0; i < far_sources_.size(); ++i)
            std::memcpy(ghosts_from(far_sources_[i]), areas_.received(i),
                        static_cast<std::size_t>(bytes_from(far_sources_[i])));
        areas_.await_sends();
    }

    Traffic traffic() const override {
        Traffic near;
        for (std::size_t t : near_targets_) near.add({lists_.targets[t], bytes_to(t)});
        return areas_.traffic(std::move(near));
    }

private:
    void sort_in(std::size_t which, int rank, int bytes, std::vector<std::size_t>& near,
                 std::vector<std::size_t>& far, std::vector<NodeAreas::Part>& parts) const {
        if (!areas_.is_away(rank)) return near.push_back(which);
        far.push_back(which);
        parts.push_back({rank, 0, static_cast<std::size_t>(bytes)});
    }

    MPI_Comm comm_;
    NodeAreas areas_;
    std::vector<std::size_t> near_targets_, far_targets_, near_sources_, far_sources_;
    std::vector<MPI_Request> requests_;
};

constexpr TableRow<GatherSetup> by_hand[] = {
    {"hand_neighbor_alltoallv", "baseline", make_of_lists<NeighborAlltoallvGather>},
    {"hand_persistent_packed", "baseline", make_of_lists<PersistentGather>},
    {"hand_isend", "baseline", make_of_lists<IsendGather>},
    {"hand_alltoallw", "baseline", make_of_lists<NeighborAlltoallwGather>},
    {"hand_put_pscw", "baseline", make_of_lists<PutGather>},
    {"hand_nodes", "baseline", make_of_lists<NodesGather>, true},
};

}  // namespace

void add_by_hand(std::vector<Entry>& entries, const GatherSetup& setup) {
    add_rows(entries, by_hand, setup);
    // Without ghosts the byte behind the array is hit, a guard: that is noticed too.
    entries.push_back(planted_fault(
        setup.comm, [=](SetupTimes& times) { return make_of_lists<IsendGather>(setup, times); },
        [array = setup.array](Variant&) { return array->ghosts(); }));
}

}  // namespace parhelion::bench
