#include "gather/case.hpp"

#include <filesystem>

#include "errors.hpp"
#include "job.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/partition_files.hpp"

namespace parhelion::bench {

namespace {

// "opencalc-B0-2" of ".../opencalc-B0-2/"
std::string folder_name(const std::string& dataset) {
    const std::filesystem::path path(dataset);
    return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string name_of(const GatherParams& params) {
    return "gather " + folder_name(params.dataset) + " " + to_string(params.element) + "x" +
           std::to_string(params.components);
}

nlohmann::json params_of(const GatherParams& params, int ranks) {
    nlohmann::json told{{"ranks", ranks},
                        {"dataset", params.dataset},
                        {"element", to_string(params.element)},
                        {"components", params.components}};
    if (!params.from.empty()) told["from"] = params.from;
    return told;
}

std::shared_ptr<const IndexedDomain> read_domain(const std::string& dataset,
                                                 const Communicator& comm) {
    PartitionPart part = read_partition(dataset, comm);
    return std::make_shared<const IndexedDomain>(part.owned, std::move(part.ghosts), comm);
}

std::shared_ptr<GatherArray> private_array(const GatherParams& params,
                                           std::shared_ptr<const IndexedDomain> domain) {
    auto memory = std::make_shared<PrivateMemory>(
        1, static_cast<std::size_t>(domain->size()) * params.cell_bytes());
    return std::make_shared<GatherArray>(params, std::move(domain), std::move(memory));
}

}  // namespace

GatherParams read_gather_params(const nlohmann::json& object) {
    GatherParams params;
    params.dataset = value_of<std::string>(object, "dataset", "");
    if (params.dataset.empty())
        throw Error("the gather needs a DATASET, a folder with one file per rank");
    params.from = value_of<std::string>(object, "from", "");
    params.element = parse_element(value_of<std::string>(object, "element", "int32"));
    params.components = static_cast<int>(integer_of(object, "components", 1, 1, 4096));
    return params;
}

Case make_gather_case(const GatherParams& params, const Communicator& comm) {
    GatherSetup setup{MPI_COMM_WORLD, params, read_domain(params.dataset, comm), nullptr};
    validate_together(comm, [&] { setup.array = private_array(params, setup.domain); });
    return {name_of(params), params_of(params, comm.size()), gather_contenders(setup)};
}

}  // namespace parhelion::bench
