#include "apps/contenders.hpp"

#include "finite_volume.hpp"
#include "job.hpp"
#include "multigrid_cg.hpp"
#include "poisson.hpp"

namespace parhelion::bench {

using namespace applications;

namespace {

using nlohmann::json;

// One number is meant for every dimension.
template <std::size_t n>
std::array<int, n> sides_of(const json& object, const std::string& key,
                            const std::vector<std::int64_t>& usual, int least, int most) {
    auto given = value_of(object, key, usual);
    if (given.size() == 1) given.assign(n, given[0]);
    std::array<int, n> sides{};
    if (given.size() != n)
        throw Error(option(key) + " of an application must be " + std::to_string(n) + " numbers");
    for (std::size_t d = 0; d < n; ++d) {
        if (given[d] < least || given[d] > most)
            throw Error(option(key) + " has " + std::to_string(given[d]) + ": from " +
                        std::to_string(least) + " to " + std::to_string(most));
        sides[d] = static_cast<int>(given[d]);
    }
    return sides;
}

template <std::size_t n>
std::array<int, n> grid_of(const json& object, int ranks) {
    std::array<int, n> balanced{};
    MPI_Dims_create(ranks, static_cast<int>(n), balanced.data());
    if (n == 2) std::swap(balanced[0], balanced[1]);  // rows, which are contiguous, stay long
    const auto grid = sides_of<n>(object, "grid", {balanced.begin(), balanced.end()}, 1, ranks);
    std::int64_t started = 1;
    for (const int side : grid) started *= side;
    if (started != ranks)
        throw Error("the process grid makes " + std::to_string(started) + " ranks and " +
                    std::to_string(ranks) + " run: make them agree");
    return grid;
}

Case read_multigrid(const json& object, const Communicator& comm) {
    MultigridProblem problem;
    problem.grid = grid_of<3>(object, comm.size());
    problem.extent = sides_of<3>(object, "extent", {32}, 1, 512);
    problem.levels = levels_of(problem.extent);
    return {"multigrid_cg",
            {{"grid", problem.grid}, {"extent", problem.extent}, {"levels", problem.levels}},
            ways_to_fill_ghosts(multigrid_cg(problem, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

int side_of_mesh(const json& object, const std::string& app, int ranks) {
    const auto extent = sides_of<2>(object, "extent", {128}, 1, 8192);
    if (extent[0] != extent[1] || !is_side_of_mesh(extent[0], ranks))
        throw Error(
            "--extent of the application " + app +
            " must be one power of two from 4 to 8192, twice, and give every rank a square");
    return extent[0];
}

Case read_finite_volume(const json& object, const Communicator& comm) {
    const int side = side_of_mesh(object, "finite_volume", comm.size());
    return {"finite_volume",
            {{"extent", {side, side}}},
            ways_to_fill_ghosts(finite_volume(side, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

Case read_poisson(const json& object, const Communicator& comm) {
    const int side = side_of_mesh(object, "poisson", comm.size());
    return {"poisson",
            {{"extent", {side, side}}},
            ways_of_poisson(poisson(side, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

Case read_hydrodynamics(const json& object, const Communicator& comm) {
    const HydrodynamicsProblem problem{grid_of<3>(object, comm.size()),
                                       sides_of<3>(object, "extent", {32}, 1, 512)};
    return {"hydrodynamics",
            {{"grid", problem.grid}, {"extent", problem.cells}},
            ways_of_hydrodynamics(problem, MPI_COMM_WORLD)};
}

Case read_shallow_water(const json& object, const Communicator& comm) {
    const ShallowWaterProblem problem{grid_of<2>(object, comm.size()),
                                      sides_of<2>(object, "extent", {128}, 2, 32768)};
    for (std::size_t d = 0; d < 2; ++d)
        if (problem.cells[d] < 2 * problem.ranks[d])
            throw Error(
                "--extent of the application shallow_water must give every rank two cells in each "
                "dimension");
    return {"shallow_water",
            {{"grid", problem.ranks}, {"extent", problem.cells}},
            ways_of_shallow_water(problem, MPI_COMM_WORLD)};
}

struct Known {
    const char* name;
    Case (*read)(const json&, const Communicator&);
};

constexpr Known applications[] = {{"multigrid_cg", read_multigrid},
                                  {"finite_volume", read_finite_volume},
                                  {"poisson", read_poisson},
                                  {"shallow_water", read_shallow_water},
                                  {"hydrodynamics", read_hydrodynamics}};

}  // namespace

Case read_application(const json& object, const Communicator& comm) {
    const auto app = value_of<std::string>(object, "app", "");
    std::string names;
    for (const Known& known : applications) {
        if (app == known.name) {
            Case read = known.read(object, comm);
            read.params["app"] = app;
            read.params["ranks"] = comm.size();
            return read;
        }
        names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw Error("unknown application '" + app + "': write one of " + names);
}

}  // namespace parhelion::bench
