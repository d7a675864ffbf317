#include "halo/case.hpp"
#include "halo/device.hpp"
#include "parhelion/core/collective.hpp"

namespace parhelion::bench {

namespace {

std::size_t memory_of(const HaloParams& params, std::size_t job) {
  return params.first_fastest ? job : params.grid.size() - 1 - job;
}

/// Each rank alone: its block is the whole domain, and its ghosts are copies of its own cells.
///
/// The library's loops read and write as many cache lines as in any exchange of the case, once
/// each; no rank communicates or waits. Sides without a neighbor get no ghosts.
HaloSetup alone(const HaloSetup& setup) {
  HaloParams params = setup.params;
  auto bare = setup.geometry.bare;
  for (std::size_t job = 0; job < params.grid.size(); ++job) {
    const std::size_t memory = memory_of(params, job);
    const auto position = setup.geometry.position[memory];
    if (!params.periodic[job])
      bare[memory] = {position == 0, position == setup.geometry.grid[memory] - 1};
    params.periodic[job] = !(bare[memory][0] && bare[memory][1]);
    params.grid[job] = 1;
  }
  HaloSetup own{MPI_COMM_SELF, params, make_geometry(params, 0), nullptr};
  own.geometry.bare = bare;
  return own;
}

class HaloFloor final : public Variant {
 public:
  HaloFloor(const HaloSetup& setup, SetupTimes& times) : setup_(alone(setup)) {
    if (setup_.params.on_device) place_on_device(setup_);
    else
      setup_.values = setup_.arrays = std::make_shared<HaloArrays>(
          setup_.geometry, setup_.params, node_shared_arrays(setup)->memory());
    std::vector<Field> fields = fields_on(setup_, *setup_.arrays);
    for (std::size_t job = 0; job < setup_.params.grid.size(); ++job) {
      const auto [lower, upper] = setup_.geometry.bare[memory_of(setup_.params, job)];
      for (Field& field : fields) {
        if (lower) field.halo.lower[job] = 0;
        if (upper) field.halo.upper[job] = 0;
      }
    }
    copies_ = make_library_variant(
        {"auto"}, [&] { return build_pattern(make_domain(setup_)); }, fields, setup_.values, times);
  }

  void exchange() override { copies_->exchange(); }
  Values& values() override { return *setup_.values; }
  Traffic traffic() const override { return {}; }

 private:
  HaloSetup setup_;
  VariantPointer copies_;
};

}  // namespace

VariantPointer make_floor(const HaloSetup& setup, SetupTimes& times) {
  VariantPointer made;
  validate_together(setup.comm, [&] { made = std::make_unique<HaloFloor>(setup, times); });
  return made;
}

}  // namespace parhelion::bench
