#include "gather/by_hand.hpp"
#include "kinds.hpp"
#include "parhelion/plan/program.hpp"

namespace parhelion::bench {

namespace {

// The library's fastest copy of listed cells.
class ListedCopy {
 public:
  ListedCopy(const std::byte* cells, const int* index, std::size_t count, std::size_t cell_bytes,
      std::byte* ghosts)
      : cells_(const_cast<std::byte*>(cells)), ghosts_(ghosts) {
    IndexedOp op;
    op.count = static_cast<byte_count>(count);
    op.width = op.src_stride = op.dst_stride = static_cast<byte_count>(cell_bytes);
    op.src_list = index;
    copy_.add(op);
  }
  void operator()() const { run(copy_, &cells_, &ghosts_); }

 private:
  std::byte *cells_, *ghosts_;
  Program copy_;
};

class GatherFloor final : public Floor<ListedCopy, GatherArray> {
 public:
  GatherFloor(const GatherSetup& setup, CellMessages messages, bool puts)
      : GatherFloor(setup, std::move(messages), puts,
            std::make_shared<OpenMemory>(setup.comm, 1, setup.bytes())) {}

 private:
  GatherFloor(const GatherSetup& setup, CellMessages messages, bool puts,
      const std::shared_ptr<OpenMemory>& memory)
      : Floor(memory, setup.array_in(memory)), messages_(std::move(messages)) {
    messages_.array = array_;
    awaited_ = ranks_of(messages_.receives);
    traffic_.bytes = bench::traffic_of(messages_.sends).bytes;
    (puts ? steps_[0].before_flag : steps_[0].after_flag) = puts ? puts_of(setup) : gets_of(setup);
    steps_[1] = steps_[0];
  }

  std::vector<ListedCopy> puts_of(const GatherSetup& setup) const {
    const auto places = places_at_readers(setup.comm, *setup.domain, messages_);
    std::vector<ListedCopy> copies;
    const std::size_t cell_bytes = array_->cell_bytes();
    for (const CellMessage& m : messages_.sends) {
      const auto place = static_cast<std::size_t>(places[copies.size()]);
      copies.emplace_back(array_->cells(), messages_.cells.data() + m.first, m.cells, cell_bytes,
          memory_->block_of(m.rank, 0) + place * cell_bytes);
    }
    return copies;
  }
  std::vector<ListedCopy> gets_of(const GatherSetup& setup) {
    cells_at_owners_ = cells_at_owners(setup.comm, *setup.domain);
    std::vector<ListedCopy> copies;
    for (const CellMessage& m : messages_.receives)
      copies.emplace_back(memory_->block_of(m.rank, 0), cells_at_owners_.data() + m.first, m.cells,
          array_->cell_bytes(), messages_.place(m));
    return copies;
  }

  CellMessages messages_;
  std::vector<int> cells_at_owners_;
};

template <bool puts>
VariantPointer make_floor(const GatherSetup& setup, SetupTimes& times) {
  CellMessages messages =
      timed(times.pattern, [&] { return find_messages(setup.comm, *setup.domain, setup.array); });
  return timed(
      times.plan, [&] { return std::make_unique<GatherFloor>(setup, std::move(messages), puts); });
}

constexpr TableRow<GatherSetup> floors[] = {
    {"floor_put", "floor", make_floor<true>},
    {"floor_get", "floor", make_floor<false>},
};

}  // namespace

void add_floors(std::vector<Entry>& entries, const GatherSetup& setup) {
  add_rows(entries, floors, setup);
}

}  // namespace parhelion::bench
