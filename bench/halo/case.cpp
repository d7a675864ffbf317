#include "halo/case.hpp"

#include <mpi.h>

#include <cmath>
#include <numeric>

#include "halo/by_hand.hpp"
#include "halo/device.hpp"
#include "halo/messages.hpp"
#include "options.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "plug_in.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

// Converts from the geometry's order (fastest dimension first) to the job's and the domain's.
BlockView block_of(const HaloSetup& setup, std::byte* array) {
  const Coordinates cells = extended(setup.geometry);
  const int dims = setup.geometry.dims;
  BlockView block{array, {}};
  auto stride = static_cast<byte_count>(setup.geometry.cell_bytes);
  for (int memory = 0; memory < dims; ++memory) {
    const auto job =
        static_cast<std::size_t>(setup.params.first_fastest ? memory : dims - 1 - memory);
    block.strides[job] = stride;
    block.first += setup.params.halo * stride;
    stride *= cells[static_cast<std::size_t>(memory)];
  }
  return block;
}

}  // namespace

CartesianDomain make_domain(const HaloSetup& setup) {
  const HaloParams& params = setup.params;
  std::vector<global_index> extents;
  CartesianOptions options;
  options.halo = params.halo;
  options.process_grid = params.grid;
  options.neighbors = params.full ? Neighbors::full : Neighbors::faces;
  for (std::size_t d = 0; d < params.grid.size(); ++d) {
    extents.push_back(global_index{params.extent[d]} * params.grid[d]);
    options.periodic.along[d] = params.periodic[d];
  }
  if (params.fold) {
    options.periodic.along[1] = false;
    options.seams = {fold(1, Side::lower, *params.fold), fold(1, Side::upper, *params.fold)};
  }
  return {extents, options, setup.comm};
}

std::vector<Field> fields_on(const HaloSetup& setup, const HaloArrays& arrays) {
  std::vector<Field> fields;
  for (int f = 0; f < arrays.fields(); ++f) {
    Field& field = fields.emplace_back();
    field.element = setup.params.element;
    field.components = setup.params.components;
    field.component_stride = setup.params.element.size;
    field.halo = setup.params.halo;
    if (setup.params.on_device) field.space = MemorySpace::device;
    field.blocks = {block_of(setup, arrays.field(f))};
  }
  return fields;
}

std::shared_ptr<HaloArrays> node_shared_arrays(const HaloSetup& setup) {
  return setup.node_shared->get([&] {
    return std::make_shared<HaloArrays>(setup.geometry, setup.params,
        std::make_shared<NodeSharedMemory>(setup.params.fields, setup.bytes()));
  });
}

namespace {

// With one rank per node, node-shared memory has no use: all variants keep the same arrays.
bool some_share_a_node(const Communicator& comm) {
  int most = comm.node().size();
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm.handle()), "MPI_Allreduce");
  return most > 1;
}

VariantPointer make_library_halo(
    const LibraryVariant& which, const HaloSetup& setup, SetupTimes& times) {
  require_usable(which, setup.comm);
  std::shared_ptr<HaloArrays> arrays = setup.arrays;
  std::shared_ptr<Values> values = setup.values;
  if (which.node_shared && !setup.params.on_device && some_share_a_node(setup.comm))
    validate_together(setup.comm, [&] { values = arrays = node_shared_arrays(setup); });
  const auto pattern = [&] { return build_pattern(make_domain(setup)); };
  return make_library_variant(which, pattern, fields_on(setup, *arrays), values, times,
      setup.params.work, setup.params.phases);
}

void require_case(const HaloSetup& setup) {
  if (setup.geometry.dims != 3) throw CannotRun("its plug-in has three dimensions");
  if (!setup.geometry.full) throw CannotRun("its plug-in supports the full halo only");
  if (setup.params.components != 1)
    throw CannotRun("its plug-in supports one component per element");
}

phl_adapter_halo describe(const HaloSetup& setup, void* const* arrays) {
  const HaloGeometry& g = setup.geometry;
  phl_adapter_halo halo{};
  halo.comm = setup.comm;
  halo.element_bytes = static_cast<int>(g.cell_bytes);
  halo.rank_of_block = g.rank;
  halo.halo = setup.params.halo;
  halo.fields = setup.params.fields;
  halo.arrays = arrays;
  for (std::size_t d = 0; d < 3; ++d) {
    halo.extent[d] = static_cast<int>(g.extent[d]);
    halo.grid[d] = static_cast<int>(g.grid[d]);
    halo.position[d] = static_cast<int>(g.position[d]);
    halo.rank_stride[d] = static_cast<int>(g.rank_stride[d]);
    halo.first[d] = halo.position[d] * halo.extent[d];
    halo.periodic[d] = g.periodic[d] ? 1 : 0;
  }
  return halo;
}

VariantPointer make_plug_in_halo(const char* variant, const HaloSetup& setup, SetupTimes& times) {
  return timed(times.plan, [&] {
    const auto& functions = adapter_functions("ghex", "phl_halo_adapter");
    require_case(setup);
    const phl_adapter_halo described = describe(setup, setup.arrays->starts());
    Traffic traffic{.known = false};  // of GHEX's staged pattern
    if (std::string_view(variant) == "direct")
      traffic = traffic_of(plan_messages(setup.arrays, Grouping::per_rank).sends);
    return make_plug_in_variant(functions, variant, &described, setup.arrays, std::move(traffic));
  });
}

}  // namespace

// True for auto and each transport for device memory.
bool takes_devices(const std::string& name) {
  if (name == "auto") return true;
  for (const TransportInfo& info : transports())
    if (info.name == name)
      return info.scope != Scope::own_rank &&
             (info.traits.reach[1] == Reach::messages || info.traits.reach[1] == Reach::arrays);
  return false;
}

std::vector<Entry> halo_variants(const HaloSetup& setup) {
  std::vector<Entry> entries = library_entries([=](const LibraryVariant& which, SetupTimes& times) {
    return make_library_halo(which, setup, times);
  });
  if (setup.params.on_device) {
    std::erase_if(entries, [](const Entry& own) { return !takes_devices(own.name); });
    for (Entry& own : entries)  // making the arrays loads the driver
      if (own.name == "device_ipc") own.only_by_name = false, own.unavailable = "";
    add_by_hand_on_device(entries, setup);
  } else {
    add_by_hand(entries, setup);
  }
  entries.push_back(
      {"floor", "floor", [=](SetupTimes& times) { return make_floor(setup, times); }});
  if (setup.params.on_device) return entries;
  for (const auto& [name, variant] : {std::pair{"ghex", "direct"}, {"ghex_staged", "staged"}})
    entries.push_back({name, "library",
        [=, variant = variant](
            SetupTimes& times) { return make_plug_in_halo(variant, setup, times); },
        true});
  if (setup.params.fold)
    for (Entry& entry : entries)
      if (entry.role != "own")
        entry.make = [](SetupTimes&) -> VariantPointer {
          throw CannotRun("it does not support seams; the library's transports do");
        };
  return entries;
}

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

const char* name_of(Pivot fold) { return fold == Pivot::center ? "fold-center" : "fold"; }

}  // namespace

std::string halo_case_name(const HaloParams& params) {
  std::string name = "halo " + joined(params.extent) + " " + to_string(params.element);
  if (params.components > 1) name.append("x").append(std::to_string(params.components));
  return name + " h" + std::to_string(params.halo) + " f" + std::to_string(params.fields) +
         (params.full ? "" : " faces") + (params.fold ? " folded" : "") +
         (params.fold == Pivot::center ? " about centers" : "") + around(params.work) +
         (params.first_fastest ? "" : " C") + (params.on_device ? " device" : "") + " on " +
         joined(params.grid);
}

nlohmann::json halo_case_params(const HaloParams& params, int ranks) {
  nlohmann::json all = {{"ranks", ranks}, {"grid", params.grid}, {"extent", params.extent},
      {"halo", params.halo}, {"fields", params.fields}, {"element", to_string(params.element)},
      {"components", params.components}, {"neighbors", params.full ? "full" : "faces"},
      {"periodic", periodicity_of(params)}, {"order", params.first_fastest ? "F" : "C"}};
  if (params.fold) all["seam"] = name_of(*params.fold);
  if (params.on_device) all["memory"] = "device";
  if (params.work.any())
    all.update({{"work_us", microseconds(params.work)}, {"uneven", params.work.uneven}});
  return all;
}

HaloSetup make_halo_setup(const HaloParams& params, const Communicator& comm) {
  HaloSetup setup{MPI_COMM_WORLD, params, make_geometry(params, comm.rank()), nullptr};
  const int ranks_here = comm.node().size();
  validate_together(comm, [&] {
    constexpr int sets = 2;  // in private and in node-shared memory
    check_node_memory(1.0 * sets * static_cast<double>(setup.bytes()) * params.fields * ranks_here,
        halo_case_name(params), "use a smaller extent, fewer fields or more nodes");
    if (params.on_device) return place_on_device(setup);
    setup.values = setup.arrays = std::make_shared<HaloArrays>(
        setup.geometry, params, std::make_shared<PrivateMemory>(params.fields, setup.bytes()));
  });
  return setup;
}

Case make_halo_case(const HaloParams& params, const Communicator& comm) {
  return {halo_case_name(params), halo_case_params(params, comm.size()),
      halo_variants(make_halo_setup(params, comm)), params.work, params.phases};
}

namespace {

using nlohmann::json;

std::vector<int> chosen_grid(int ranks, std::size_t dims) {
  std::vector<int> grid(dims, 0);
  MPI_Dims_create(ranks, static_cast<int>(dims), grid.data());
  return grid;
}

std::vector<bool> periodicity_of(const json& object, std::size_t dims) {
  const json periodic = object.value("periodic", json(true));
  if (periodic.is_boolean()) return std::vector<bool>(dims, periodic.get<bool>());
  if (periodic.size() != dims)
    throw Error("--periodic has " + std::to_string(periodic.size()) + " values for " +
                std::to_string(dims) + " dimensions: give yes, no, or one for each dimension");
  return periodic;
}

void check_grid(const HaloParams& params, int ranks) {
  if (params.grid.size() != params.extent.size())
    throw Error("--grid has " + std::to_string(params.grid.size()) +
                " dimensions and --extent has " + std::to_string(params.extent.size()) +
                ": make them equal");
  if (params.extent.size() > static_cast<std::size_t>(max_dimensions))
    throw Error(
        "--extent has " + std::to_string(params.extent.size()) + " dimensions: give 1 to 4");
  const auto product =
      std::accumulate(params.grid.begin(), params.grid.end(), 1.0, std::multiplies<>{});
  if (product != ranks)
    throw Error("--grid " + joined(params.grid) + " does not make " + std::to_string(ranks) +
                " ranks: change it, or start as many ranks as its product");
}

void check_halo(const HaloParams& params) {
  for (std::size_t d = 0; d < params.extent.size(); ++d)
    if (params.halo > params.extent[d])
      throw Error("halo width " + std::to_string(params.halo) + " exceeds the extent " +
                  std::to_string(params.extent[d]) + " in dimension " + std::to_string(d) +
                  ": the hand-written exchanges reach only the next rank; use a narrower halo");
}

void check_fold(const HaloParams& params) {
  if (!params.fold) return;
  if (params.extent.size() < 2 || periodicity_of(params) != true)
    throw Error(
        "--seam fold is for two or more dimensions, periodic all of them: give --extent as "
        "many, and leave --periodic out");
  if (2 * params.halo >= params.extent[1] * params.grid[1])
    throw Error(
        "--seam fold needs more cells along the second dimension than twice the halo width: "
        "use a narrower halo");
}

void check_size(const HaloParams& params) {
  double bytes = 1.0 * params.fields * params.components * params.element.size;
  for (int extent : params.extent) bytes *= extent + 2.0 * params.halo;
  if (bytes > 1e15)
    throw Error("a case needs more than 1e15 bytes per rank: use a smaller extent or fewer fields");
}

}  // namespace

HaloParams read_halo_params(const json& object, int ranks) {
  HaloParams params;
  params.extent = object.at("extent").get<std::vector<int>>();
  params.grid = object.value("grid", params.grid);
  if (params.extent.size() == 1)
    params.extent.assign(params.grid.empty() ? 3 : params.grid.size(), params.extent[0]);
  if (params.grid.empty()) params.grid = chosen_grid(ranks, params.extent.size());
  params.halo = object.value("halo", 1);
  params.fields = object.value("fields", 1);
  params.element = parse_element(object.value("element", "float64"));
  params.components = object.value("components", 1);
  params.full = object.value("neighbors", "full") == "full";
  params.periodic = periodicity_of(object, params.extent.size());
  params.phases = object.value("phases", false);
  if (const std::string seam = object.value("seam", "none"); seam != "none")
    params.fold = seam == name_of(Pivot::center) ? Pivot::center : Pivot::corner;
  params.on_device = object.value("memory", "host") == "device";
  params.first_fastest = object.value("order", "F") == "F";
  params.work = {object.value("work_us", 0.0) * 1e-6, object.value("uneven", 0.0)};
  check_grid(params, ranks);
  check_halo(params);
  check_fold(params);
  check_size(params);
  return params;
}

}  // namespace parhelion::bench
