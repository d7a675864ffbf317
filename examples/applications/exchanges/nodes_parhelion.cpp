#include <optional>

#include "exchanges/nodes.hpp"
#include "parhelion/core/node_memory.hpp"
#include "parhelion/index_map/point_sums.hpp"

namespace applications {

using namespace parhelion;

namespace {

class WithParhelion final : public NodeSums {
 public:
  explicit WithParhelion(const std::string& transport)
      : options_{.transport = transport, .at_once = true} {}

  std::array<std::span<double>, 3> add(const NodeBox& box) override {
    box_.emplace(box);
    CartesianOptions how{.halo = 0,
        .process_grid = {box.grid[0], box.grid[1], box.grid[2]},
        .rank_order = RankFill::first_fastest};
    const CartesianDomain domain(
        {box.grid[0] * box.cells[0], box.grid[1] * box.cells[1], box.grid[2] * box.cells[2]}, how,
        box.comm);
    const auto nodes = static_cast<std::size_t>(box.nodes());
    memory_ = allocate_node_shared(static_cast<byte_count>(3 * nodes * sizeof(double)));
    auto* first = reinterpret_cast<double*>(memory_.get());
    std::vector<Field> forces;
    for (std::size_t f = 0; f < 3; ++f) {
      fields_[f] = {first + f * nodes, nodes};
      forces.push_back(view(domain, fields_[f].data(), {.order = Order::fortran, .stagger = 1}));
    }
    sums_.emplace(domain, std::move(forces), options_);
    return fields_;
  }
  void sum() override { (*sums_)(); }

  Traffic traffic() const override { return box_->to_neighbors(); }
  std::string explain() const override { return sums_->explain(); }

 private:
  ExchangeOptions options_;
  std::optional<NodeBox> box_;
  std::shared_ptr<std::byte> memory_;
  std::array<std::span<double>, 3> fields_;
  std::optional<PointSums> sums_;
};

}  // namespace

NodeSumsPointer nodes_with_parhelion(const std::string& transport) {
  return std::make_unique<WithParhelion>(transport);
}

}  // namespace applications
