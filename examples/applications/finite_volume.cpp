#include "finite_volume.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "curve.hpp"

namespace applications {

namespace {

/// A face between an owned cell and its neighbor, owned or ghost. The normal points to the
/// neighbor; its length is that of the face.
struct Face {
  int cell, neighbor;
  std::array<double, 2> normal;
};

/// A rank's part of the mesh. Squares have sides of length 1, triangles an area of ½.
struct Triangles {
  Cells cells;
  std::vector<Face> faces;                     // one entry per face between two owned cells
  std::vector<std::array<double, 2>> centers;  // of owned cells
};

// Square m of the Morton curve consists of the cells 2 m (lower triangle) and 2 m + 1 (upper).

/// Whether the diagonal falls from upper left to lower right: pseudo-random, the same on all ranks.
bool falls(std::int64_t square) { return spread(static_cast<std::uint64_t>(square)) & 1; }

struct Side {
  std::int64_t neighbor;
  std::array<double, 2> normal;
};

/// The three faces of a cell: diagonal, bottom or top, left or right.
std::array<Side, 3> sides_of(std::int64_t cell, std::int64_t side) {
  const std::int64_t square = cell / 2;
  const bool upper = cell % 2, falling = falls(square), left = falling != upper;
  const auto [x, y] = at_place(square);
  const double up = upper ? 1 : -1, right = left ? -1 : 1;
  const std::int64_t across = place_on_curve((x + (left ? side - 1 : 1)) % side, y);
  const std::int64_t above = place_on_curve(x, (y + (upper ? 1 : side - 1)) % side);
  const bool upper_there = falls(across) == left;  // which triangle of that square has this side
  return {{{2 * square + !upper, {-right, -up}}, {2 * above + !upper, {0, up}},
      {2 * across + upper_there, {right, 0}}}};
}

std::array<double, 2> center_of(std::int64_t cell) {
  const std::int64_t square = cell / 2;
  const bool upper = cell % 2, left = falls(square) != upper;
  const auto [x, y] = at_place(square);
  return {static_cast<double>(x) + (left ? 1 : 2) / 3.0,
      static_cast<double>(y) + (upper ? 2 : 1) / 3.0};
}

Triangles make_triangles(int side, MPI_Comm comm) {
  const std::int64_t squares = std::int64_t{side} * side;
  Triangles mesh;
  mesh.cells = piece_of_curve(squares, 2, comm);
  std::vector<std::int64_t> beside;
  for (std::int64_t cell = mesh.cells.first; cell < mesh.cells.first + mesh.cells.owned; ++cell)
    for (const Side& s : sides_of(cell, side)) beside.push_back(s.neighbor);
  find_ghosts_on_curve(mesh.cells, std::move(beside), squares, 2);
  for (int cell = 0; cell < mesh.cells.owned; ++cell) {
    const std::int64_t id = mesh.cells.first + cell;
    mesh.centers.push_back(center_of(id));
    for (const Side& s : sides_of(id, side))
      if (s.neighbor > id || !mesh.cells.owns(s.neighbor))
        mesh.faces.push_back({cell, mesh.cells.local_of(s.neighbor), s.normal});
  }
  return mesh;
}

constexpr int variables = 4;  // density, momentum in x and y, energy
constexpr double gamma = 1.4, cell_area = 0.5, courant_number = 0.2;

using State = std::array<double, variables>;

double pressure(const double* u) {
  return (gamma - 1) * (u[3] - 0.5 * (u[1] * u[1] + u[2] * u[2]) / u[0]);
}

/// Speed of the fastest wave through a face, times the face's length.
double wave_speed(const double* u, const std::array<double, 2>& normal) {
  const double length = std::hypot(normal[0], normal[1]);
  return std::abs(u[1] * normal[0] + u[2] * normal[1]) / u[0] +
         std::sqrt(gamma * pressure(u) / u[0]) * length;
}

State flux(const double* u, const std::array<double, 2>& normal) {
  const double p = pressure(u), through = (u[1] * normal[0] + u[2] * normal[1]) / u[0];
  return {u[0] * through, u[1] * through + p * normal[0], u[2] * through + p * normal[1],
      (u[3] + p) * through};
}

class FiniteVolume final : public Application {
 public:
  FiniteVolume(int side, MPI_Comm comm, GhostUpdate& ghosts)
      : ghosts_(ghosts), mesh_(make_triangles(side, comm)), side_(side) {
    const std::vector<Ghosted> added = ghosts.add(mesh_.cells, variables, 2);
    now_ = added[0];
    stage_ = added[1];
    change_.resize(static_cast<std::size_t>(mesh_.cells.owned) * variables);
  }

  void start(unsigned round) override {
    std::ranges::fill(now_.values, 0.0);
    std::ranges::fill(stage_.values, 0.0);
    const double waves = 2 * std::numbers::pi * (1 + round % 3) / side_;
    for (int cell = 0; cell < mesh_.cells.owned; ++cell) {
      const auto [x, y] = mesh_.centers[static_cast<std::size_t>(cell)];
      double* u = now_.values.data() + cell * variables;
      u[0] = 1 + 0.2 * std::sin(waves * x) * std::cos(waves * y);
      u[1] = 0.3 * u[0];
      u[2] = 0.1 * u[0] * std::cos(waves * x);
      u[3] = 1 / (gamma - 1) + 0.5 * (u[1] * u[1] + u[2] * u[2]) / u[0];
    }
  }

  void step() override {
    ghosts_.update(now_.number);
    add_fluxes(now_.values);
    MPI_Allreduce(MPI_IN_PLACE, &fastest_, 1, MPI_DOUBLE, MPI_MAX, mesh_.cells.comm);
    const double dt = courant_number / fastest_;
    const std::size_t owned = change_.size();
    for (std::size_t i = 0; i < owned; ++i)
      stage_.values[i] = now_.values[i] + dt / cell_area * change_[i];
    ghosts_.update(stage_.number);
    add_fluxes(stage_.values);
    for (std::size_t i = 0; i < owned; ++i)
      now_.values[i] = 0.5 * (now_.values[i] + stage_.values[i] + dt / cell_area * change_[i]);
  }

  std::vector<std::span<const double>> state() const override {
    return {stage_.values, now_.values};
  }

 private:
  /// Adds the fluxes through all faces of each owned cell.
  void add_fluxes(std::span<const double> values) {
    std::ranges::fill(change_, 0.0);
    fastest_ = 0;
    for (const Face& face : mesh_.faces) {
      const double *u = values.data() + face.cell * variables,
                   *beyond = values.data() + face.neighbor * variables;
      const double speed = std::max(wave_speed(u, face.normal), wave_speed(beyond, face.normal));
      const State here = flux(u, face.normal), there = flux(beyond, face.normal);
      fastest_ = std::max(fastest_, speed);
      const bool inner = face.neighbor < mesh_.cells.owned;
      for (int v = 0; v < variables; ++v) {
        const auto k = static_cast<std::size_t>(v);
        const double through = 0.5 * (here[k] + there[k] - speed * (beyond[v] - u[v]));
        change_[static_cast<std::size_t>(face.cell * variables + v)] -= through;
        if (inner) change_[static_cast<std::size_t>(face.neighbor * variables + v)] += through;
      }
    }
  }

  GhostUpdate& ghosts_;
  Triangles mesh_;
  int side_;
  Ghosted now_, stage_;
  std::vector<double> change_;
  double fastest_ = 0;
};

}  // namespace

bool is_side_of_mesh(std::int64_t side, int ranks) {
  return side >= 4 && side <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(side)) &&
         side * side >= ranks;
}

MakeApplication finite_volume(int side, MPI_Comm comm) {
  return [=](GhostUpdate& ghosts) { return std::make_unique<FiniteVolume>(side, comm, ghosts); };
}

}  // namespace applications
