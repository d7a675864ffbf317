#include "core/made_comms.hpp"

#include "core/collective_step.hpp"

namespace parhelion {

MadeComms::~MadeComms() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  for (Made& made : all_) MPI_Comm_free(&made.comm);
}

void MadeComms::free_dropped(const Communicator& comm) {
  std::vector<std::uint64_t> in_use;
  validate_together(comm, [&] {
    all_.reserve(all_.size() + 1);
    in_use.reserve(all_.size());
    next_ = std::make_shared<std::atomic<bool>>(false);
  });
  if (all_.empty()) return;
  for (const Made& made : all_) in_use.push_back(!made.dropped->load(std::memory_order_relaxed));
  reduce(comm, Combine::largest, in_use);
  std::size_t i = 0;
  std::erase_if(all_,
      [&](Made& made) { return in_use[i++] == 0 && MPI_Comm_free(&made.comm) == MPI_SUCCESS; });
}

MadeComms::Use MadeComms::add(MPI_Comm made) {
  all_.push_back({made, std::move(next_)});
  return Use(all_.back().dropped);
}

}  // namespace parhelion
