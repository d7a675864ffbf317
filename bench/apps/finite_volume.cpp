#include "apps/finite_volume.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "apps/triangles.hpp"

namespace parhelion::bench {

namespace {

constexpr int variables = 4;  // density, momentum in x and y, energy
constexpr double gamma = 1.4, cell_area = 0.5, courant_number = 0.2;

using State = std::array<double, variables>;

double pressure(const double* u) { return (gamma - 1) * (u[3] - 0.5 * (u[1] * u[1] + u[2] * u[2]) / u[0]); }

/// The fastest wave through a face, times its length.
double wave_speed(const double* u, const std::array<double, 2>& normal) {
    const double length = std::hypot(normal[0], normal[1]);
    return std::abs(u[1] * normal[0] + u[2] * normal[1]) / u[0] + std::sqrt(gamma * pressure(u) / u[0]) * length;
}

State flux(const double* u, const std::array<double, 2>& normal) {
    const double p = pressure(u), through = (u[1] * normal[0] + u[2] * normal[1]) / u[0];
    return {u[0] * through, u[1] * through + p * normal[0], u[2] * through + p * normal[1], (u[3] + p) * through};
}

class FiniteVolume final : public Application {
public:
    FiniteVolume(int side, MPI_Comm comm, GhostUpdate& ghosts) : ghosts_(ghosts), mesh_(make_triangles(side, comm)), side_(side) {
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
        for (std::size_t i = 0; i < owned; ++i) stage_.values[i] = now_.values[i] + dt / cell_area * change_[i];
        ghosts_.update(stage_.number);
        add_fluxes(stage_.values);
        for (std::size_t i = 0; i < owned; ++i) now_.values[i] = 0.5 * (now_.values[i] + stage_.values[i] + dt / cell_area * change_[i]);
    }

    std::vector<std::span<const double>> state() const override { return {stage_.values, now_.values}; }

private:
    /// What flows into each owned cell, through all its faces.
    void add_fluxes(std::span<const double> values) {
        std::ranges::fill(change_, 0.0);
        fastest_ = 0;
        for (const Face& face : mesh_.faces) {
            const double *u = values.data() + face.cell * variables, *beyond = values.data() + face.neighbor * variables;
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
    return side >= 4 && side <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(side)) && side * side >= ranks;
}

MakeApplication finite_volume(int side, MPI_Comm comm) {
    return [=](GhostUpdate& ghosts) { return std::make_unique<FiniteVolume>(side, comm, ghosts); };
}

}  // namespace parhelion::bench
