#include "gather/by_hand.hpp"

#include "kinds.hpp"
#include "mpi_handles.hpp"

namespace parhelion::bench {

namespace {

class NeighborAlltoallvGather : public Kind<CellMessages> {
 public:
  NeighborAlltoallvGather(const GatherSetup& setup, CellMessages messages)
      : Kind(std::move(messages)),
        buffer_(1, messages_.cells.size() * messages_.array->cell_bytes()),
        sent_(messages_.sends, 1), received_(messages_.receives, 1),
        neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {}

  void send() {
    const GatherArray& array = *messages_.array;
    pack_cells(array.cells(), messages_.cells.data(), messages_.cells.size(), array.cell_bytes(),
        buffer_.block(0));
    MPI_Neighbor_alltoallv(buffer_.block(0), sent_.counts.data(), sent_.offsets.data(), MPI_BYTE,
        array.ghosts(), received_.counts.data(), received_.offsets.data(), MPI_BYTE,
        neighborhood_.get());
  }

 private:
  PrivateMemory buffer_;
  Layout sent_, received_;
  Neighborhood neighborhood_;
};

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

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

/// Puts into the reader's ghosts; synchronized by post, start, complete and wait.
class PutGather : public Kind<CellMessages> {
 public:
  PutGather(const GatherSetup& setup, CellMessages messages)
      : Kind(std::move(messages)), buffers_(messages_.sends),
        places_(places_at_readers(setup.comm, *setup.domain, messages_)),
        readers_(group_of(setup.comm, ranks_of(messages_.sends))),
        owners_(group_of(setup.comm, ranks_of(messages_.receives))) {
    const auto memory = std::make_shared<WindowMemory>(setup.comm, setup.bytes());
    messages_.array = setup.array_in(memory);
    window_ = memory->window();
  }
  ~PutGather() {
    for (MPI_Group* group : {&readers_, &owners_})
      if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
  }

  void post_receives() {
    if (!messages_.receives.empty()) MPI_Win_post(owners_, 0, window_);
  }
  void send() {
    if (messages_.sends.empty()) return;
    const auto cell_bytes = static_cast<MPI_Aint>(messages_.array->cell_bytes());
    MPI_Win_start(readers_, 0, window_);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const CellMessage& m = messages_.sends[i];
      messages_.pack(m, buffers_[i]);
      MPI_Put(buffers_[i], m.count(), MPI_BYTE, m.rank, places_[i] * cell_bytes, m.count(),
          MPI_BYTE, window_);
    }
    MPI_Win_complete(window_);
  }
  void unpack() {
    if (!messages_.receives.empty()) MPI_Win_wait(window_);
  }

 private:
  MessageBuffers buffers_;
  std::vector<std::int64_t> places_;  // in cells
  MPI_Group readers_, owners_;
  MPI_Win window_;  // of the array's memory
};

template <class Kind>
VariantPointer gather(const GatherSetup& setup, SetupTimes& times) {
  return make_at_once<Kind>(
      setup, times, [&] { return find_messages(setup.comm, *setup.domain, setup.array); });
}

using IsendGather = PackedMessages<CellMessages, false>;

constexpr TableRow<GatherSetup> by_hand[] = {
    {"hand_neighbor_alltoallv", "baseline", gather<NeighborAlltoallvGather>},
    {"hand_persistent_packed", "baseline", gather<PackedMessages<CellMessages, true>>},
    {"hand_isend", "baseline", gather<IsendGather>},
    {"hand_put_pscw", "baseline", gather<PutGather>},
};

}  // namespace

void add_by_hand(std::vector<Entry>& entries, const GatherSetup& setup) {
  add_rows(entries, by_hand, setup);
  // Without ghosts the fault hits a guard behind the array, which the checks see too.
  entries.push_back(planted_fault(
      setup.comm, [=](SetupTimes& times) { return gather<IsendGather>(setup, times); },
      [array = setup.array](Variant&) { return array->ghosts(); }));
}

}  // namespace parhelion::bench
