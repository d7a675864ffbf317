#include "halo/case.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <numeric>

#include "errors.hpp"
#include "job.hpp"
#include "parhelion/core/collective.hpp"
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
    return " around " + shortest(microseconds(work)) + " us" +
           (work.uneven > 0 ? " uneven by " + shortest(work.uneven) : "");
}

nlohmann::json periodicity_of(const HaloParams& params) {
    for (bool along : params.periodic)
        if (along != params.periodic.front()) return params.periodic;
    return static_cast<bool>(params.periodic.front());
}

// Two sets of arrays, one in ordinary and one in node-shared memory. Asking for more than there is
// would not fail: the kernel would end a process later, when the pages are touched.
void check_memory(const HaloGeometry& geometry, const HaloParams& params, int ranks_here) {
    constexpr double gib = 1 << 30;
    const double wanted = 2.0 * static_cast<double>(cells_per_array(geometry)) *
                          static_cast<double>(geometry.cell_bytes) * params.fields * ranks_here;
    const double present =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (wanted > 0.9 * present)
        throw Error("the " + std::to_string(ranks_here) + " ranks of a node would need " +
                    std::to_string(wanted / gib) + " GiB, and it has " +
                    std::to_string(present / gib) +
                    " GiB: use a smaller extent, fewer fields or more nodes");
}

std::shared_ptr<HaloArrays> private_arrays(const HaloGeometry& geometry, const HaloParams& params) {
    const std::size_t bytes =
        static_cast<std::size_t>(cells_per_array(geometry)) * geometry.cell_bytes;
    return std::make_shared<HaloArrays>(geometry, params,
                                        std::make_shared<PrivateMemory>(params.fields, bytes));
}

}  // namespace

std::string halo_case_name(const HaloParams& params) {
    std::string name = "halo " + joined(params.extent) + " " + to_string(params.element);
    if (params.components > 1) name.append("x").append(std::to_string(params.components));
    return name + " h" + std::to_string(params.halo) + " f" + std::to_string(params.fields) +
           (params.full ? "" : " faces") + around(params.work) +
           (params.first_fastest ? "" : " C") + " on " + joined(params.grid);
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
    if (params.work.any())
        all.update({{"work_us", microseconds(params.work)}, {"uneven", params.work.uneven}});
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
    return {halo_case_name(params), halo_case_params(params, comm.size()),
            halo_contenders(make_halo_setup(params, comm)), params.work};
}

namespace {

using nlohmann::json;

std::vector<int> integers_of(const json& object, const std::string& key) {
    std::vector<int> numbers;
    for (const json& entry : object.at(key))
        numbers.push_back(static_cast<int>(integer_of({{key, entry}}, key, 0, 1, 1 << 30)));
    if (numbers.empty() || numbers.size() > static_cast<std::size_t>(max_dimensions))
        throw Error(option(key) + " has " + std::to_string(numbers.size()) +
                    " dimensions: give 1 to 4");
    return numbers;
}

std::vector<int> chosen_grid(int ranks, std::size_t dims) {
    std::vector<int> grid(dims, 0);
    MPI_Dims_create(ranks, static_cast<int>(dims), grid.data());
    return grid;
}

std::vector<bool> periodicity_of(const json& object, std::size_t dims) {
    if (!object.contains("periodic") || object.at("periodic").is_boolean())
        return std::vector<bool>(dims, value_of(object, "periodic", true));
    const auto each = value_of(object, "periodic", std::vector<bool>{});
    if (each.size() != dims)
        throw Error("--periodic needs true, false, or one of them per dimension");
    return each;
}

bool one_of_two(const json& object, const std::string& key, const std::string& yes,
                const std::string& no) {
    const auto word = value_of(object, key, yes);
    if (word != yes && word != no)
        throw Error(option(key) + " is '" + word + "': write " + yes + " or " + no);
    return word == yes;
}

double number_of(const json& object, const std::string& key, double least, double most) {
    const auto number = value_of(object, key, 0.0);
    if (!(number >= least && number <= most))
        throw Error(option(key) + " is " + json(number).dump() + ": use " + json(least).dump() +
                    " to " + json(most).dump());
    return number;
}

void check_grid(const HaloParams& params, int ranks) {
    if (params.grid.size() != params.extent.size())
        throw Error("--grid has " + std::to_string(params.grid.size()) +
                    " dimensions and 'extent' has " + std::to_string(params.extent.size()) +
                    ": give as many");
    const auto product =
        std::accumulate(params.grid.begin(), params.grid.end(), 1.0, std::multiplies<>{});
    if (product != ranks)
        throw Error("the process grid " + json(params.grid).dump() + " does not make " +
                    std::to_string(ranks) +
                    " ranks: change 'grid' or start as many ranks as its product");
}

void check_halo(const HaloParams& params) {
    for (std::size_t d = 0; d < params.extent.size(); ++d)
        if (params.halo > params.extent[d])
            throw Error(
                "halo width " + std::to_string(params.halo) + " exceeds the extent " +
                std::to_string(params.extent[d]) + " in dimension " + std::to_string(d) +
                ": the hand-written exchanges reach only the next rank; use a narrower halo");
}

// Far beyond any node; what this node has is checked when the case is made.
void check_size(const HaloParams& params) {
    double bytes = 1.0 * params.fields * params.components * params.element.size;
    for (int extent : params.extent) bytes *= extent + 2.0 * params.halo;
    if (bytes > 1e15)
        throw Error(
            "a case wants more than 1e15 bytes on each rank: use a smaller extent or fewer fields");
}

}  // namespace

HaloParams read_halo_params(const json& object, int ranks) {
    HaloParams params;
    params.extent = integers_of(object, "extent");
    if (object.contains("grid")) params.grid = integers_of(object, "grid");
    if (params.extent.size() == 1)
        params.extent.assign(params.grid.empty() ? 3 : params.grid.size(), params.extent[0]);
    if (params.grid.empty()) params.grid = chosen_grid(ranks, params.extent.size());
    params.halo = static_cast<int>(integer_of(object, "halo", 1, 0, 1 << 20));
    params.fields = static_cast<int>(integer_of(object, "fields", 1, 1, 4096));
    params.element = parse_element(value_of<std::string>(object, "element", "float64"));
    params.components = static_cast<int>(integer_of(object, "components", 1, 1, 4096));
    params.full = one_of_two(object, "neighbors", "full", "faces");
    params.periodic = periodicity_of(object, params.extent.size());
    params.first_fastest = one_of_two(object, "order", "F", "C");
    params.work = {number_of(object, "work_us", 0, 1e6) * 1e-6,
                   number_of(object, "uneven", 0, 0.95)};
    check_grid(params, ranks);
    check_halo(params);
    check_size(params);
    return params;
}

}  // namespace parhelion::bench
