#include "apps/case.hpp"

#include "apps/contenders.hpp"
#include "apps/finite_volume.hpp"
#include "apps/multigrid_cg.hpp"
#include "job.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

std::array<int, 3> three_of(const json& object, const std::string& key, int most) {
    const auto sides = value_of(object, key, std::vector<std::int64_t>{});
    std::array<int, 3> three{};
    if (sides.size() != three.size()) throw Error("job: '" + key + "' of an application must be three numbers");
    for (std::size_t d = 0; d < three.size(); ++d) {
        if (sides[d] < 1 || sides[d] > most) throw Error("job: '" + key + "' has " + std::to_string(sides[d]) + ": from 1 to " + std::to_string(most));
        three[d] = static_cast<int>(sides[d]);
    }
    return three;
}

ApplicationParams read_multigrid(const json& object, int ranks) {
    refuse_other_keys(object, "the application multigrid_cg", {"app", "grid", "extent"});
    MultigridProblem problem;
    problem.grid = three_of(object, "grid", ranks);
    problem.extent = three_of(object, "extent", 512);
    problem.levels = levels_of(problem.extent);
    const int started = problem.grid[0] * problem.grid[1] * problem.grid[2];
    if (started != ranks)
        throw Error("job: the process grid makes " + std::to_string(started) + " ranks and " + std::to_string(ranks) + " run: make them agree");
    const json told{{"grid", problem.grid}, {"extent", problem.extent}, {"levels", problem.levels}};
    return {"multigrid_cg", told, [=](MPI_Comm comm) { return multigrid_cg(problem, comm); }};
}

ApplicationParams read_finite_volume(const json& object, int ranks) {
    refuse_other_keys(object, "the application finite_volume", {"app", "extent"});
    const auto extent = value_of(object, "extent", std::vector<std::int64_t>{});
    if (extent.size() != 2 || extent[0] != extent[1] || !is_side_of_mesh(extent[0], ranks))
        throw Error("job: 'extent' of the application finite_volume must be one power of two from 4 to 8192, twice, and give every rank a square");
    const int side = static_cast<int>(extent[0]);
    return {"finite_volume", {{"extent", extent}}, [=](MPI_Comm comm) { return finite_volume(side, comm); }};
}

}  // namespace

ApplicationParams read_application_params(const json& object, int ranks) {
    if (!object.is_object()) throw Error("job: an application is not an object: " + object.dump());
    const auto app = value_of<std::string>(object, "app", "");
    if (app != "multigrid_cg" && app != "finite_volume") throw Error("job: unknown application '" + app + "': write multigrid_cg or finite_volume");
    ApplicationParams params = app == "multigrid_cg" ? read_multigrid(object, ranks) : read_finite_volume(object, ranks);
    params.told["app"] = app;
    params.told["ranks"] = ranks;
    return params;
}

Case make_application_case(const ApplicationParams& params) {
    ApplicationSetup setup;
    setup.make = params.problem(setup.comm);
    return {params.app, params.told, application_contenders(setup)};
}

}  // namespace parhelion::bench
