#include <algorithm>

#include "bindings.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/localize.hpp"

namespace parhelion::python {
namespace {

// One byte per cell, nonzero if wet; read on rank 0.
using Bytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

CartesianDomain make_grid(const Communicator& comm, std::vector<global_index> extents,
    CartesianOptions options, const std::optional<Bytes>& mask) {
  if (mask)
    options.mask =
        mask_of(extents, {mask->shape_ptr(), mask->shape_ptr() + mask->ndim()}, mask->data());
  return {std::move(extents), std::move(options), comm};
}

void bind_grid(nb::module_& module) {
  nb::class_<CartesianDomain>(module, "CartesianDomain")
      .def(nb::new_(&make_grid), Unlocked())
      .def("staggered", &CartesianDomain::staggered)
      .def_prop_ro("process_grid", &CartesianDomain::process_grid)
      .def("axis", &CartesianDomain::axis)
      .def_prop_ro("blocks", &CartesianDomain::blocks)
      .def("coordinates_of", &CartesianDomain::coordinates_of);
  module.def("choose_process_grid",
      nb::overload_cast<int, const std::vector<global_index>&, const HaloWidth&>(
          &choose_process_grid));
  module.def("cube_seams", &cube_seams);
}

IndexedDomain from_block(
    const Communicator& comm, global_index owned, const Ids& ghosts, bool self_ghosts) {
  return {owned, vector_of(ghosts), comm, SelfGhosts{self_ghosts}};
}

IndexedDomain from_owned_ids(
    const Communicator& comm, const Ids& owned, const Ids& ghosts, bool self_ghosts) {
  return IndexedDomain::with_owned_ids(
      vector_of(owned), vector_of(ghosts), comm, SelfGhosts{self_ghosts});
}

template <class T>
Numpy<T> copy_of(std::span<const T> values) {
  return to_numpy(std::vector(values.begin(), values.end()));
}

template <class From>
auto localize_with(const From& nodes, const Ids& ids) {
  auto made = unlocked([&] { return localize(span_of(ids), nodes); });
  return std::pair(std::move(made.nodes), to_numpy(std::move(made.connectivity)));
}

void bind_cells(nb::module_& module) {
  using Domain = const IndexedDomain&;
  nb::class_<IndexedDomain>(module, "IndexedDomain")
      .def(nb::new_(&from_block), Unlocked())
      .def(nb::new_(&from_owned_ids), Unlocked())
      .def_prop_ro("owned", &IndexedDomain::owned)
      .def_prop_ro("ghosts", &IndexedDomain::ghosts)
      .def_prop_ro("global_size", &IndexedDomain::global_size)
      .def_prop_ro("first", &IndexedDomain::first)
      .def("ghost_ids", [](Domain domain) { return copy_of(domain.ghost_ids()); })
      .def("ghost_owners", [](Domain domain) { return copy_of(domain.ghost_owners()); })
      .def("global_of",
          [](Domain domain, const Ids& cells) {
            std::vector<global_index> ids;
            for (const std::int64_t cell : span_of(cells))
              ids.push_back(domain.global_of(
                  static_cast<local_index>(std::clamp<std::int64_t>(cell, INT32_MIN, INT32_MAX))));
            return to_numpy(std::move(ids));
          })
      .def("local_of",
          [](Domain domain, const Ids& ids) {
            std::vector<local_index> cells(ids.size());
            domain.local_of(span_of(ids), cells);
            return to_numpy(std::move(cells));
          })
      .def("owners_of", [](Domain domain, const Ids& ids) {
        return to_numpy(unlocked([&] { return domain.owners_of(span_of(ids)); }));
      });
  module.def("localize", &localize_with<IndexedDomain>);
  module.def("localize", &localize_with<Communicator>);
  module.def("read_partition", [](const std::string& folder, const Communicator& comm) {
    auto part = unlocked([&] { return read_partition(folder, comm); });
    return std::pair(part.owned, to_numpy(std::move(part.ghosts)));
  });
  module.def("read_partition_keys", [](const std::string& folder, const Communicator& comm) {
    auto read = unlocked([&] { return read_partition_keys(folder, comm); });
    return std::pair(read.per_id, to_numpy(std::move(read.keys)));
  });
}

void bind_pattern(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern")
      .def_ro("communicator", &Pattern::communicator)
      .def_ro("dimensions", &Pattern::dimensions)
      .def_ro("owned", &Pattern::owned)
      .def_ro("ghosts", &Pattern::ghosts)
      .def_ro("halo", &Pattern::halo)
      .def_ro("ends", &Pattern::ends)
      .def_ro("stagger", &Pattern::stagger)
      .def_ro("blocks", &Pattern::blocks)
      .def("stages",
          [](const Pattern& pattern) {
            const auto selected = [](const Selection& of) {
              return nb::make_tuple(of.boxes, copy_of(std::span(of.cells)));
            };
            return list_of(pattern.stages, [&](const Stage& stage) {
              return list_of(stage, [&](const Link& link) {
                return nb::make_tuple(link.rank, selected(link.send), selected(link.receive));
              });
            });
          })
      .def("describe", &describe)
      .def("neighbor_ranks", &neighbor_ranks)
      .def("cells_sent", &cells_sent);
  module.def(
      "build_pattern", nb::overload_cast<const CartesianDomain&>(&build_pattern), Unlocked());
  module.def(
      "build_pattern",
      [](const IndexedDomain& domain, double timeout_s) {
        return collectively(domain.communicator(), "build_pattern", timeout_s,
            [&] { return build_pattern(domain); });
      },
      Unlocked());
}

}  // namespace

void bind_domains(nb::module_& module) {
  bind_grid(module);
  bind_cells(module);
  bind_pattern(module);
}

}  // namespace parhelion::python
