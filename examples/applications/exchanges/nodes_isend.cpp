#include <optional>

#include "exchanges/hand_nodes.hpp"
#include "exchanges/nodes.hpp"

namespace applications {

namespace {

class ByIsend final : public NodeSums {
 public:
  std::array<std::span<double>, 3> add(const NodeBox& box) override {
    comm_ = box.comm;
    nodes_.emplace(box);
    for (int k = 0; k < 27; ++k) {
      const Triple direction{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      const int rank = box.neighbor(direction);
      if (k != 13 && rank != MPI_PROC_NULL)
        neighbors_.emplace_back(rank, k, direction, nodes_->count(direction));
    }
    requests_.resize(2 * neighbors_.size());
    return {nodes_->fields[0], nodes_->fields[1], nodes_->fields[2]};
  }

  void sum() override {
    MPI_Request* request = requests_.data();
    for (Neighbor& each : neighbors_)
      MPI_Irecv(each.received.data(), static_cast<int>(each.received.size()), MPI_DOUBLE, each.rank,
          26 - each.tag, comm_, request++);
    for (Neighbor& each : neighbors_) {
      nodes_->pack(each.direction, each.packed.data());
      MPI_Isend(each.packed.data(), static_cast<int>(each.packed.size()), MPI_DOUBLE, each.rank,
          each.tag, comm_, request++);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (const Neighbor& each : neighbors_) nodes_->add(each.direction, each.received.data());
  }

  Traffic traffic() const override {
    Traffic sum{0, static_cast<std::int64_t>(neighbors_.size())};
    for (const Neighbor& each : neighbors_)
      sum.bytes += static_cast<std::int64_t>(each.packed.size() * sizeof(double));
    return sum;
  }

 private:
  struct Neighbor {
    int rank, tag;  // the tag encodes the direction; 26 − tag is the opposite one
    Triple direction;
    std::vector<double> packed, received;

    Neighbor(int of, int number, const Triple& towards, std::size_t values)
        : rank(of), tag(number), direction(towards), packed(values), received(values) {}
  };
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::optional<HandNodes> nodes_;
  std::vector<Neighbor> neighbors_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

NodeSumsPointer nodes_by_hand_with_isend() { return std::make_unique<ByIsend>(); }

}  // namespace applications
