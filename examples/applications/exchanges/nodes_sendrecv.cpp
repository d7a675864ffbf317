#include <optional>

#include "exchanges/hand_nodes.hpp"
#include "exchanges/nodes.hpp"

namespace applications {

namespace {

class BySendrecv final : public NodeSums {
 public:
  std::array<std::span<double>, 3> add(const NodeBox& box) override {
    comm_ = box.comm;
    nodes_.emplace(box);
    for (std::size_t d = 0; d < 3; ++d)
      for (int side = 0; side < 2; ++side) {
        Triple direction{};
        direction[d] = 2 * side - 1;
        planes_[2 * d + static_cast<std::size_t>(side)] = {box.neighbor(direction), direction,
            std::vector<double>(nodes_->count(direction)),
            std::vector<double>(nodes_->count(direction))};
      }
    return {nodes_->fields[0], nodes_->fields[1], nodes_->fields[2]};
  }

  void sum() override {
    for (std::size_t d = 0; d < 3; ++d) {
      Plane &low = planes_[2 * d], &high = planes_[2 * d + 1];
      pass(low, high);
      pass(high, low);
      for (const Plane* each : {&low, &high})
        if (each->rank != MPI_PROC_NULL) nodes_->add(each->direction, each->received.data());
    }
  }

  Traffic traffic() const override {
    Traffic sum;
    for (const Plane& each : planes_)
      if (each.rank != MPI_PROC_NULL)
        sum.bytes += static_cast<std::int64_t>(each.packed.size() * sizeof(double)), ++sum.messages;
    return sum;
  }

 private:
  struct Plane {
    int rank = MPI_PROC_NULL;
    Triple direction{};
    std::vector<double> packed, received;
  };

  void pass(Plane& there, Plane& behind) {
    if (there.rank != MPI_PROC_NULL) nodes_->pack(there.direction, there.packed.data());
    MPI_Sendrecv(there.packed.data(), static_cast<int>(there.packed.size()), MPI_DOUBLE, there.rank,
        0, behind.received.data(), static_cast<int>(behind.received.size()), MPI_DOUBLE,
        behind.rank, 0, comm_, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::optional<HandNodes> nodes_;
  std::array<Plane, 6> planes_;
};

}  // namespace

NodeSumsPointer nodes_by_hand_with_sendrecv() { return std::make_unique<BySendrecv>(); }

}  // namespace applications
