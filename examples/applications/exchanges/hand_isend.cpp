#include "exchanges/exchanges.hpp"
#include "exchanges/hand_lists.hpp"

namespace applications {

namespace {

struct Array {
  std::shared_ptr<const HandLists> lists;
  MPI_Comm comm;
  int components;
  std::vector<double> values, packed;
  double* ghosts;
  std::vector<MPI_Request> requests;

  Array(std::shared_ptr<const HandLists> made, const Cells& cells, int each)
      : lists(std::move(made)), comm(cells.comm), components(each),
        values(cells.size() * static_cast<std::size_t>(each)),
        packed(lists->cells.size() * static_cast<std::size_t>(each)),
        ghosts(values.data() + cells.owned * each),
        requests(lists->sources.size() + lists->targets.size()) {}
};

class HandIsend final : public HandUpdate<Array> {
 public:
  void update(std::size_t number) override {
    Array& array = arrays_[number];
    const HandLists& lists = *array.lists;
    const int each = array.components;
    MPI_Request* request = array.requests.data();
    for (std::size_t s = 0; s < lists.sources.size(); ++s)
      MPI_Irecv(array.ghosts + lists.ghost_offset[s] * each,
          (lists.ghost_offset[s + 1] - lists.ghost_offset[s]) * each, MPI_DOUBLE, lists.sources[s],
          1, array.comm, request++);
    for (std::size_t t = 0; t < lists.targets.size(); ++t) {
      double* packed = array.packed.data() + lists.send_offset[t] * each;
      lists.pack(array.values.data(), t, each, packed);
      MPI_Isend(packed, (lists.send_offset[t + 1] - lists.send_offset[t]) * each, MPI_DOUBLE,
          lists.targets[t], 1, array.comm, request++);
    }
    MPI_Waitall(
        static_cast<int>(array.requests.size()), array.requests.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace

GhostUpdatePointer by_hand_with_isend() { return std::make_unique<HandIsend>(); }

}  // namespace applications
