#include "halo/case.hpp"

#include <unistd.h>

#include <cmath>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

std::string joined(const std::vector<int>& numbers) {
    std::string text;
    for (int number : numbers) text.append(text.empty() ? "" : "x").append(std::to_string(number));
    return text;
}

double microseconds(const Work& work) { return std::round(work.seconds * 1e9) / 1e3; }

std::string around(const Work& work) {
    if (!work.any()) return "";
    const auto shortest = [](double number) { return nlohmann::json(number).dump(); };
    return " around " + shortest(microseconds(work)) + " us" + (work.uneven > 0 ? " uneven by " + shortest(work.uneven) : "");
}

nlohmann::json periodicity_of(const HaloParams& params) {
    for (bool along : params.periodic)
        if (along != params.periodic.front()) return params.periodic;
    return static_cast<bool>(params.periodic.front());
}

// Two sets of arrays, one in ordinary and one in node-shared memory. Asking for more than there is would not fail: the
// kernel would end a process later, when the pages are touched.
void check_memory(const HaloGeometry& geometry, const HaloParams& params, int ranks_here) {
    constexpr double gib = 1 << 30;
    const double wanted =
        2.0 * static_cast<double>(cells_per_array(geometry)) * static_cast<double>(geometry.cell_bytes) * params.fields * ranks_here;
    const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (wanted > 0.9 * present)
        throw Error("job: the " + std::to_string(ranks_here) + " ranks of a node would need " + std::to_string(wanted / gib) +
                    " GiB, and it has " + std::to_string(present / gib) + " GiB: use a smaller extent, fewer fields or more nodes");
}

std::shared_ptr<HaloArrays> private_arrays(const HaloGeometry& geometry, const HaloParams& params) {
    const std::size_t bytes = static_cast<std::size_t>(cells_per_array(geometry)) * geometry.cell_bytes;
    return std::make_shared<HaloArrays>(geometry, params, std::make_shared<PrivateMemory>(params.fields, bytes));
}

}  // namespace

std::string halo_case_name(const HaloParams& params) {
    std::string name = "halo " + joined(params.extent) + " " + to_string(params.element);
    if (params.components > 1) name.append("x").append(std::to_string(params.components));
    return name + " h" + std::to_string(params.halo) + " f" + std::to_string(params.fields) + (params.full ? "" : " faces") +
           around(params.work) + (params.first_fastest ? "" : " C") + " on " + joined(params.grid);
}

nlohmann::json halo_case_params(const HaloParams& params, int ranks) {
    nlohmann::json all = {{"ranks", ranks},
                          {"grid", params.grid},
                          {"extent", params.extent},
                          {"halo", params.halo},
                          {"fields", params.fields},
                          {"element", to_string(params.element)},
                          {"components", params.components},
                          {"neighbors", params.full ? "full" : "faces"},
                          {"periodic", periodicity_of(params)},
                          {"order", params.first_fastest ? "F" : "C"}};
    if (params.work.any()) all.update({{"work_us", microseconds(params.work)}, {"uneven", params.work.uneven}});
    return all;
}

HaloSetup make_halo_setup(const HaloParams& params, const Communicator& comm) {
    HaloSetup setup{MPI_COMM_WORLD, params, make_geometry(params, comm.rank()), nullptr};
    const int ranks_here = comm.node().size();
    validate_together(comm, [&] { check_memory(setup.geometry, params, ranks_here); });
    validate_together(comm, [&] { setup.arrays = private_arrays(setup.geometry, params); });
    return setup;
}

Case make_halo_case(const HaloParams& params, const Communicator& comm) {
    return {halo_case_name(params), halo_case_params(params, comm.size()), halo_contenders(make_halo_setup(params, comm)), params.work};
}

}  // namespace parhelion::bench
