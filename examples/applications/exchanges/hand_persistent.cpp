#include "exchanges/exchanges.hpp"
#include "exchanges/hand_lists.hpp"

namespace applications {

namespace {

struct Array {
  std::shared_ptr<const HandLists> lists;
  int components;
  std::vector<double> values, packed;
  std::vector<MPI_Request> receives, sends;

  Array(std::shared_ptr<const HandLists> made, const Cells& cells, int each)
      : lists(std::move(made)), components(each),
        values(cells.size() * static_cast<std::size_t>(each)),
        packed(lists->cells.size() * static_cast<std::size_t>(each)) {
    const std::vector<int>& from = lists->ghost_offset;
    for (std::size_t s = 0; s < lists->sources.size(); ++s)
      MPI_Recv_init(values.data() + (cells.owned + from[s]) * each, (from[s + 1] - from[s]) * each,
          MPI_DOUBLE, lists->sources[s], 1, cells.comm, &receives.emplace_back());
    const std::vector<int>& to = lists->send_offset;
    for (std::size_t t = 0; t < lists->targets.size(); ++t)
      MPI_Send_init(packed_for(t), (to[t + 1] - to[t]) * each, MPI_DOUBLE, lists->targets[t], 1,
          cells.comm, &sends.emplace_back());
  }
  ~Array() {
    for (MPI_Request& request : receives) MPI_Request_free(&request);
    for (MPI_Request& request : sends) MPI_Request_free(&request);
  }
  double* packed_for(std::size_t t) { return packed.data() + lists->send_offset[t] * components; }
};

class HandPersistent final : public HandUpdate<Array> {
 public:
  void update(std::size_t number) override {
    Array& array = arrays_[number];
    // Open MPI's MPI_Startall fails on a rank without neighbors.
    for (MPI_Request& receive : array.receives) MPI_Start(&receive);
    for (std::size_t t = 0; t < array.lists->targets.size(); ++t) {
      array.lists->pack(array.values.data(), t, array.components, array.packed_for(t));
      MPI_Start(&array.sends[t]);
    }
    MPI_Waitall(
        static_cast<int>(array.receives.size()), array.receives.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(static_cast<int>(array.sends.size()), array.sends.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace

GhostUpdatePointer by_hand_with_persistent_requests() { return std::make_unique<HandPersistent>(); }

}  // namespace applications
