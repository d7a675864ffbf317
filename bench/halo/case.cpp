#include "halo/case.hpp"

#include "parhelion/core/error.hpp"


namespace parhelion::bench {

namespace {

std::string joined(const std::vector<int>& numbers) {
    std::string text;
    for (int number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
    return text;
}

std::string name_of(const HaloParams& params) {
    std::string name = "halo " + joined(params.extent) + " " + to_string(params.element);
    if (params.components > 1) name += "x" + std::to_string(params.components);
    return name + " h" + std::to_string(params.halo) + " f" + std::to_string(params.fields) +
           (params.full ? "" : " faces") + (params.first_fastest ? "" : " C") + " on " + joined(params.grid);
}

nlohmann::json periodicity_of(const HaloParams& params) {
    for (bool along : params.periodic)
        if (along != params.periodic.front()) return params.periodic;
    return static_cast<bool>(params.periodic.front());
}

nlohmann::json params_of(const HaloParams& params, int ranks) {
    return {{"ranks", ranks},
            {"grid", params.grid},
            {"extent", params.extent},
            {"halo", params.halo},
            {"fields", params.fields},
            {"element", to_string(params.element)},
            {"components", params.components},
            {"neighbors", params.full ? "full" : "faces"},
            {"periodic", periodicity_of(params)},
            {"order", params.first_fastest ? "F" : "C"}};
}

std::shared_ptr<HaloArrays> private_arrays(const HaloGeometry& geometry, const HaloParams& params) {
    const std::size_t bytes = static_cast<std::size_t>(cells_per_array(geometry)) * geometry.cell_bytes;
    return std::make_shared<HaloArrays>(geometry, params, std::make_shared<PrivateMemory>(params.fields, bytes));
}

}  // namespace

Case make_halo_case(const HaloParams& params, const Communicator& comm) {
    HaloSetup setup{MPI_COMM_WORLD, params, make_geometry(params, comm.rank()), nullptr};
    validate_together(comm, [&] { setup.arrays = private_arrays(setup.geometry, params); });
    return {name_of(params), params_of(params, comm.size()), halo_contenders(setup)};
}

}  // namespace parhelion::bench
