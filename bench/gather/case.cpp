#include "gather/case.hpp"

#include <filesystem>

#include "gather/by_hand.hpp"
#include "library.hpp"
#include "options.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/index_map.hpp"
#include "plug_in.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

class IndexMapGather : public Variant {
 public:
  IndexMapGather(IndexMap map, const GatherSetup& setup)
      : map_(std::move(map)), array_(setup.array),
        values_({array_->cells(), static_cast<byte_count>(array_->cell_bytes())}, {},
            setup.params.element, setup.params.components) {
    map_.forward(values_);  // creates and caches the exchange
  }

  void exchange() override { map_.forward(values_); }
  Values& values() override { return *array_; }
  Traffic traffic() const override { return traffic_of(map_.exchange(values_)->plan()); }
  nlohmann::json explain() const override { return map_.exchange(values_)->explain(); }

 private:
  IndexMap map_;
  std::shared_ptr<GatherArray> array_;
  CellValues values_;
};

/// Like the gathers of Fortran and C: any array, copied through the map's buffers.
VariantPointer make_index_map_gather(const GatherSetup& setup, SetupTimes& times) {
  IndexMap map = timed(times.pattern, [&] { return IndexMap(*setup.domain); });
  return timed(times.plan, [&] { return std::make_unique<IndexMapGather>(std::move(map), setup); });
}

VariantPointer make_library_gather(
    const LibraryVariant& which, const GatherSetup& setup, SetupTimes& times) {
  require_usable(which, setup.comm);
  std::shared_ptr<GatherArray> array = setup.array;
  if (which.node_shared)
    validate_together(setup.comm, [&] {
      array = setup.node_shared->get(
          [&] { return setup.array_in(std::make_shared<NodeSharedMemory>(1, setup.bytes())); });
    });
  const Field field = view_cells(array->cells(), setup.domain->owned(), array->ghosts(),
      setup.domain->ghosts(), setup.params.element, {Order::c, setup.params.components});
  return make_library_variant(
      which, [&] { return build_pattern(*setup.domain); }, {field}, array, times);
}

VariantPointer make_plug_in_gather(
    const char* library, const char* variant, const GatherSetup& setup, SetupTimes& times) {
  return timed(times.plan, [&] {
    const auto& functions = adapter_functions(library, "phl_gather_adapter");
    const GatherArray& array = *setup.array;
    const IndexedDomain& domain = *setup.domain;
    Traffic traffic = traffic_of(find_messages(setup.comm, domain, setup.array).sends);
    const std::vector<int> places = cells_at_owners(setup.comm, domain);
    const std::vector<std::int32_t> owners(
        domain.ghost_owners().begin(), domain.ghost_owners().end());
    const std::string element = to_string(setup.params.element);
    const phl_adapter_cells described{setup.comm, domain.owned(), domain.ghosts(),
        domain.ghost_ids().data(), owners.data(), places.data(), element.c_str(),
        setup.params.components, array.cells(), array.ghosts()};
    return make_plug_in_variant(functions, variant, &described, setup.array, std::move(traffic));
  });
}

constexpr struct {
  const char *name, *library, *variant;
} other_libraries[] = {
    {"petsc_basic", "petsc", "basic"},
    {"petsc_neighbor", "petsc", "neighbor"},
    {"petsc_window_fence", "petsc", "window fence"},
    {"petsc_window_lock", "petsc", "window lock"},
    {"dolfinx", "dolfinx", "scatterer"},
};

}  // namespace

std::vector<Entry> gather_variants(const GatherSetup& setup) {
  std::vector<Entry> entries = library_entries([=](const LibraryVariant& which, SetupTimes& times) {
    return make_library_gather(which, setup, times);
  });
  entries.push_back(
      {"index_map", "own", [=](SetupTimes& times) { return make_index_map_gather(setup, times); }});
  add_by_hand(entries, setup);
  add_floors(entries, setup);
  for (const auto& each : other_libraries)
    entries.push_back({each.name, "library",
        [=](SetupTimes& times) {
          return make_plug_in_gather(each.library, each.variant, setup, times);
        },
        true});
  return entries;
}

namespace {

std::string folder_name(const std::string& dataset) {
  const std::filesystem::path path(dataset);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string name_of(const GatherParams& params) {
  return "gather " + folder_name(params.dataset) + " " + to_string(params.element) + "x" +
         std::to_string(params.components);
}

nlohmann::json params_of(const GatherParams& params, int ranks) {
  nlohmann::json told{{"ranks", ranks}, {"dataset", params.dataset},
      {"element", to_string(params.element)}, {"components", params.components}};
  if (!params.from.empty()) told["from"] = params.from;
  return told;
}

std::shared_ptr<const IndexedDomain> read_domain(
    const std::string& dataset, const Communicator& comm) {
  PartitionPart part = read_partition(dataset, comm);
  return std::make_shared<const IndexedDomain>(part.owned, std::move(part.ghosts), comm);
}

}  // namespace

GatherParams read_gather_params(const nlohmann::json& object) {
  GatherParams params;
  params.dataset = object.value("dataset", "");
  if (params.dataset.empty())
    throw Error("the gather needs a DATASET, a folder with one file per rank");
  params.from = object.value("from", "");
  params.element = parse_element(object.value("element", "int32"));
  params.components = object.value("components", 1);
  return params;
}

Case make_gather_case(const GatherParams& params, const Communicator& comm) {
  GatherSetup setup{MPI_COMM_WORLD, params, read_domain(params.dataset, comm), nullptr};
  validate_together(comm,
      [&] { setup.array = setup.array_in(std::make_shared<PrivateMemory>(1, setup.bytes())); });
  return {name_of(params), params_of(params, comm.size()), gather_variants(setup)};
}

}  // namespace parhelion::bench
