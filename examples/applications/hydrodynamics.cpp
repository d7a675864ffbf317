#include "hydrodynamics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace applications {

namespace {

constexpr double gamma = 1.4, courant_number = 0.2, viscosity = 0.5;
constexpr int steps_of_a_run = 50;
constexpr std::size_t corners = 8;
// Corner c is at the upper end of dimension d if bit d of c is set. Each face lists its corners
// such that its normal points outward.
constexpr std::size_t faces[6][4] = {
    {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

using Vector = std::array<double, 3>;
using Hexahedron = std::array<Vector, corners>;

/// Rounds to a multiple of 2^-40: sums over ranks are exact, so their order does not matter.
double coarse(double value) {
  constexpr double large = 0x1.8p12;
  return (value + large) - large;
}

Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Area vectors of the six faces.
std::array<Vector, 6> normals_of(const Hexahedron& cell) {
  std::array<Vector, 6> normals{};
  for (std::size_t f = 0; f < 6; ++f) {
    const Vector a = minus(cell[faces[f][2]], cell[faces[f][0]]),
                 b = minus(cell[faces[f][3]], cell[faces[f][1]]);
    normals[f] = {0.5 * (a[1] * b[2] - a[2] * b[1]), 0.5 * (a[2] * b[0] - a[0] * b[2]),
        0.5 * (a[0] * b[1] - a[1] * b[0])};
  }
  return normals;
}

double volume_of(const Hexahedron& cell) {
  const std::array<Vector, 6> normals = normals_of(cell);
  double sum = 0;
  for (std::size_t f = 0; f < 6; ++f)
    for (const std::size_t corner : faces[f]) {
      const Vector from = minus(cell[corner], cell[0]);
      sum += from[0] * normals[f][0] + from[1] * normals[f][1] + from[2] * normals[f][2];
    }
  return sum / 12;
}

class Hydrodynamics final : public Program {
 public:
  Hydrodynamics(
      const HydrodynamicsProblem& problem, MPI_Comm comm, NodeSumsPointer way, ExchangeClock& clock)
      : box_(problem.grid, problem.cells, comm), sums_(std::move(way)), clock_(clock) {
    force_ = clock_.set_up([&] { return sums_->add(box_); });
    const auto nodes = static_cast<std::size_t>(box_.nodes());
    for (std::size_t d = 0; d < 3; ++d)
      position_[d].resize(nodes), velocity_[d].resize(nodes), moves_[d].resize(nodes);
    mass_.resize(nodes);
    for (int node = 0; node < box_.nodes(); ++node) describe(node);
    for (int z = 0; z < box_.cells[2]; ++z)
      for (int y = 0; y < box_.cells[1]; ++y)
        for (int x = 0; x < box_.cells[0]; ++x)
          for (int c = 0; c < 8; ++c)
            corner_.push_back(box_.number({x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)}));
    energy_.resize(corner_.size() / corners);
    volume_.resize(energy_.size());
    stress_.resize(energy_.size());
  }

  void start(unsigned round) override {
    steps_ = 0;
    round_ = round;
    for (int node = 0; node < box_.nodes(); ++node) {
      const Triple at = box_.at(node);
      for (std::size_t d = 0; d < 3; ++d) {
        position_[d][where(node)] = box_.place[d] * box_.cells[d] + at[d];
        velocity_[d][where(node)] = 0;
      }
    }
    std::ranges::fill(volume_, 1.0);
    for (std::size_t cell = 0; cell < energy_.size(); ++cell) {
      const Vector corner = shape(cell)[0];
      energy_[cell] = 1 + 0.05 * wave(corner, 0) * wave(corner, 1) * wave(corner, 2);
    }
  }

  void step() override {
    if (steps_++ == steps_of_a_run) start(round_), ++steps_;
    add_forces();
    clock_.exchange([&] { sums_->sum(); });
    ++exchanges_;
    MPI_Allreduce(MPI_IN_PLACE, &shortest_, 1, MPI_DOUBLE, MPI_MIN, box_.comm);
    move_nodes(courant_number * shortest_);
    for (std::size_t cell = 0; cell < energy_.size(); ++cell) {
      const double now = volume_of(shape(cell));
      energy_[cell] -=
          stress_[cell] * (now - volume_[cell]);  // per unit mass; each cell has mass 1
      volume_[cell] = now;
    }
  }

  std::vector<std::span<const double>> state() const override {
    seen_.clear();
    for (const auto* values : {&position_, &velocity_})
      for (const std::vector<double>& each : *values)
        for (int node = 0; node < box_.nodes(); ++node) seen_.push_back(each[where(node)]);
    return {energy_, volume_, seen_};
  }
  Traffic traffic() const override {
    const Traffic each = sums_->traffic();
    return {each.bytes * exchanges_, each.messages * exchanges_};
  }
  std::string explain() const override { return sums_->explain(); }

 private:
  static std::size_t where(int node) { return static_cast<std::size_t>(node); }

  /// Sets a node's mass, an eighth of each adjacent cell's, and the directions in which walls let
  /// it move.
  void describe(int node) {
    const Triple at = box_.at(node);
    mass_[where(node)] = 0.125;
    for (std::size_t d = 0; d < 3; ++d) {
      const int all = box_.grid[d] * box_.cells[d], here = box_.place[d] * box_.cells[d] + at[d];
      moves_[d][where(node)] = here > 0 && here < all;
      if (here > 0 && here < all) mass_[where(node)] *= 2;
    }
  }

  double wave(const Vector& at, std::size_t d) const {
    return std::cos(
        std::numbers::pi * (1 + round_ % 3) * (at[d] + 0.5) / (box_.grid[d] * box_.cells[d]));
  }

  Hexahedron shape(std::size_t cell) const { return gathered(cell, position_); }
  Hexahedron gathered(std::size_t cell, const std::array<std::vector<double>, 3>& values) const {
    Hexahedron found{};
    for (std::size_t c = 0; c < corners; ++c)
      for (std::size_t d = 0; d < 3; ++d)
        found[c][d] = values[d][static_cast<std::size_t>(corner_[cell * corners + c])];
    return found;
  }

  /// Adds pressure, and viscosity in cells that shrink; each face passes a quarter to each of its
  /// corners.
  void add_forces() {
    for (const std::span<double> each : force_) std::ranges::fill(each, 0.0);
    shortest_ = 1e30;
    for (std::size_t cell = 0; cell < energy_.size(); ++cell) {
      const std::array<Vector, 6> normals = normals_of(shape(cell));
      const Hexahedron velocity = gathered(cell, velocity_);
      double growth = 0;
      for (std::size_t f = 0; f < 6; ++f)
        for (const std::size_t c : faces[f])
          for (std::size_t d = 0; d < 3; ++d) growth += 0.25 * normals[f][d] * velocity[c][d];
      const double size = std::cbrt(volume_[cell]),
                   sound = std::sqrt(gamma * (gamma - 1) * energy_[cell]);
      shortest_ = std::min(shortest_, size / (sound + std::abs(growth) / (size * size)));
      stress_[cell] = ((gamma - 1) * energy_[cell] +
                          viscosity * sound * std::max(-growth, 0.0) / (size * size)) /
                      volume_[cell];
      for (std::size_t f = 0; f < 6; ++f)
        for (const std::size_t c : faces[f])
          for (std::size_t d = 0; d < 3; ++d)
            force_[d][static_cast<std::size_t>(corner_[cell * corners + c])] +=
                0.25 * stress_[cell] * normals[f][d];
    }
    for (const std::span<double> each : force_)
      for (double& value : each) value = coarse(value);
  }

  void move_nodes(double dt) {
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t node = 0; node < mass_.size(); ++node) {
        velocity_[d][node] += moves_[d][node] ? dt * force_[d][node] / mass_[node] : 0;
        position_[d][node] += dt * velocity_[d][node];
      }
  }

  NodeBox box_;
  NodeSumsPointer sums_;
  ExchangeClock& clock_;
  std::array<std::span<double>, 3> force_;
  std::array<std::vector<double>, 3> position_, velocity_;
  std::array<std::vector<char>, 3> moves_;
  std::vector<double> mass_, energy_, volume_, stress_;  // mass_ per node, the others per cell
  std::vector<int> corner_;                              // eight corners per cell
  mutable std::vector<double> seen_;                     // per node, in the order of the box
  double shortest_ = 0;
  std::int64_t exchanges_ = 0;
  int steps_ = 0;
  unsigned round_ = 0;
};

class SumsOverAllRanks final : public NodeSums {
 public:
  std::array<std::span<double>, 3> add(const NodeBox& box) override {
    box_ = &box;
    all_.resize(static_cast<std::size_t>(box.all_nodes()));
    for (std::vector<double>& field : fields_) field.resize(static_cast<std::size_t>(box.nodes()));
    return {fields_[0], fields_[1], fields_[2]};
  }
  void sum() override {
    for (std::vector<double>& field : fields_) {
      std::ranges::fill(all_, 0.0);
      for (int node = 0; node < box_->nodes(); ++node)
        all_[static_cast<std::size_t>(box_->global(node))] = field[static_cast<std::size_t>(node)];
      MPI_Allreduce(MPI_IN_PLACE, all_.data(), static_cast<int>(all_.size()), MPI_DOUBLE, MPI_SUM,
          box_->comm);
      for (int node = 0; node < box_->nodes(); ++node)
        field[static_cast<std::size_t>(node)] = all_[static_cast<std::size_t>(box_->global(node))];
    }
  }

 private:
  const NodeBox* box_ = nullptr;
  std::array<std::vector<double>, 3> fields_;
  std::vector<double> all_;
};

}  // namespace

MakeProgram hydrodynamics(
    const HydrodynamicsProblem& problem, MPI_Comm comm, std::function<NodeSumsPointer()> way) {
  return [=](ExchangeClock& clock) {
    return std::make_unique<Hydrodynamics>(problem, comm, way(), clock);
  };
}

NodeSumsPointer sums_over_all_ranks() { return std::make_unique<SumsOverAllRanks>(); }

}  // namespace applications
