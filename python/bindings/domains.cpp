#include <numeric>

#include "bindings.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "parhelion/domain/partition_files.hpp"
#include "parhelion/index_map/localize.hpp"
#include "parhelion/pattern/pattern.hpp"

namespace parhelion::python {
namespace {

using Grid = const CartesianDomain&;
using Cells = const IndexedDomain&;

// Side: axis, whether upper, tile. Seam: two sides, axes, axes in opposite order, whether about
// cell centers.
using GivenSide = std::tuple<int, bool, int>;
using Seams = std::vector<std::tuple<GivenSide, GivenSide, std::vector<int>, unsigned, bool>>;

// One byte per cell, nonzero if wet; empty except on rank 0.
using Bytes = nb::ndarray<const std::uint8_t, nb::ro, nb::device::cpu>;

Mask mask_from(const std::vector<global_index>& extents, const Bytes& bytes) {
  std::vector<global_index> own, strides;
  for (std::size_t d = 0; d < bytes.ndim(); ++d) {
    own.push_back(static_cast<global_index>(bytes.shape(d)));
    strides.push_back(bytes.stride(d));
  }
  return mask_of(extents, own, [first = bytes.data(), strides](const Coordinates& at) {
    return first[std::inner_product(strides.begin(), strides.end(), at.begin(), global_index{0})] !=
           0;
  });
}

void construct_grid(CartesianDomain* self, const Communicator& comm,
    std::vector<global_index> extents, GivenSides halo, const std::vector<bool>& periodic,
    std::vector<int> process_grid, std::vector<std::vector<global_index>> splits,
    std::vector<int> blocks_per_rank, Neighbors neighbors, Algorithm algorithm, RankFill fill,
    std::vector<int> ranks, bool owns_ends, const Seams& seams, int tile_axis,
    const std::optional<Bytes>& mask) {
  CartesianOptions options;
  options.halo = halo_from(halo);
  options.halo.listed = options.periodic.listed = static_cast<int>(extents.size());
  std::copy_n(periodic.begin(), std::min<std::size_t>(periodic.size(), max_dimensions),
      options.periodic.along.begin());
  options.process_grid = std::move(process_grid);
  options.splits = std::move(splits);
  options.blocks_per_rank = std::move(blocks_per_rank);
  options.neighbors = neighbors;
  options.algorithm = algorithm;
  options.rank_order = ranks.empty() ? RankOrder(fill) : RankOrder(std::move(ranks));
  options.boundary = owns_ends ? Boundary::owned : Boundary::open;
  options.tile_axis = tile_axis;
  const auto side = [](const GivenSide& given) -> TileSide {
    const auto& [axis, is_upper, tile] = given;
    return {axis, is_upper ? Side::upper : Side::lower, tile};
  };
  for (const auto& [from, to, axes, backward, center] : seams)
    options.seams.push_back({side(from), side(to), axes, static_cast<std::uint8_t>(backward),
        center ? Pivot::center : Pivot::corner});
  if (mask) options.mask = mask_from(extents, *mask);
  new (self) CartesianDomain(std::move(extents), options, comm);
}

// Sides as (tile, axis, "lower" or "upper"), and axes in opposite order.
nb::list cube(int first_axis) {
  const auto side = [](const TileSide& given) {
    return nb::make_tuple(given.tile, given.axis, given.side == Side::lower ? "lower" : "upper");
  };
  return list_of(cube_seams(first_axis), [&](const Seam& seam) {
    nb::list backward;
    for (int d = 0; d < max_dimensions; ++d)
      if (seam.backward >> d & 1) backward.append(d);
    return nb::make_tuple(side(seam.from), side(seam.to), backward);
  });
}

nb::list boxes_of(Grid domain, Box Block::* box) {
  return list_of(domain.blocks(),
      [&](const Block& block) { return corners_of(block.*box, domain.dimensions()); });
}

std::vector<std::vector<global_index>> starts_of(Grid domain) {
  std::vector<std::vector<global_index>> all;
  for (int d = 0; d < domain.dimensions(); ++d) all.push_back(domain.axis(d).starts);
  return all;
}

nb::tuple flags_of(Grid domain, bool periodic, const Block* at = nullptr) {
  return tuple_of(domain.dimensions(), [&](std::size_t d) {
    return domain.axis(static_cast<int>(d)).periodic == periodic &&
           (at == nullptr || at->position[d] == 0);
  });
}

void bind_grid(nb::module_& module) {
  using Boxes = nb::typed<nb::list, Corners>;
  nb::enum_<Neighbors>(module, "Neighbors")
      .value("full", Neighbors::full)
      .value("faces", Neighbors::faces);
  nb::enum_<RankFill>(module, "RankFill")
      .value("last", RankFill::last_fastest)
      .value("first", RankFill::first_fastest)
      .value("communicator", RankFill::of_communicator);
  nb::enum_<Algorithm>(module, "Algorithm")
      .value("standard", Algorithm::standard)
      .value("staged", Algorithm::staged);
  nb::class_<CartesianDomain>(module, "CartesianDomain")
      .def("__init__", &construct_grid, "comm"_a, "extents"_a, "halo"_a, "periodic"_a,
          "process_grid"_a, "splits"_a, "blocks_per_rank"_a, "neighbors"_a, "algorithm"_a, "fill"_a,
          "ranks"_a, "owns_ends"_a, "seams"_a, "tile_axis"_a, "mask"_a.none(), Unlocked())
      .def(
          "staggered",
          [](Grid domain, IntList stagger) { return domain.staggered(stagger_from(stagger)); },
          "stagger"_a)
      .def_prop_ro("periodic", [](Grid domain) -> Flags { return flags_of(domain, true); })
      .def_prop_ro(
          "lowest",
          [](Grid domain) -> nb::typed<nb::list, Flags> {
            return list_of(domain.blocks(),
                [&](const Block& block) { return flags_of(domain, false, &block); });
          },
          "Per block of this rank, where it lies at the lower end of a dimension that is not "
          "periodic.")
      .def_prop_ro("process_grid", &CartesianDomain::process_grid)
      .def_prop_ro(
          "starts", &starts_of, "Per dimension, the first cell of each block and the extent.")
      .def_prop_ro(
          "blocks", [](Grid domain) -> Boxes { return boxes_of(domain, &Block::owned); },
          "Per block of this rank, the first and the past-the-end cell.")
      .def_prop_ro(
          "held", [](Grid domain) -> Boxes { return boxes_of(domain, &Block::held); },
          "Per block of this rank, the first and the past-the-end cell or point of an array "
          "without its halo.")
      .def("coordinates_of", &CartesianDomain::coordinates_of, "rank"_a);
  module.def(
      "choose_process_grid",
      [](int ranks, const std::vector<global_index>& extents, GivenSides halo) {
        return choose_process_grid(ranks, extents, halo_from(halo));
      },
      "ranks"_a, "extents"_a, "halo"_a);
}

SelfGhosts rule(bool allowed) { return allowed ? SelfGhosts::allowed : SelfGhosts::refused; }

IndexedDomain from_block(
    const Communicator& comm, global_index owned, const Ids& ghosts, bool self_ghosts) {
  return {owned, vector_of(span_of(ghosts)), comm, rule(self_ghosts)};
}

IndexedDomain from_owned_ids(
    const Communicator& comm, const Ids& owned, const Ids& ghosts, bool self_ghosts) {
  return IndexedDomain::with_owned_ids(
      vector_of(span_of(owned)), vector_of(span_of(ghosts)), comm, rule(self_ghosts));
}

Numpy<global_index> global_of(Cells domain, const Ids& cells) {
  std::vector<global_index> ids;
  for (const std::int64_t cell : span_of(cells))
    ids.push_back(
        domain.global_of(cell >= 0 && cell < domain.size() ? static_cast<local_index>(cell) : -1));
  return to_numpy(std::move(ids));
}

Numpy<local_index> local_of(Cells domain, const Ids& ids) {
  std::vector<local_index> cells(ids.size());
  domain.local_of(span_of(ids), cells);
  return to_numpy(std::move(cells));
}

Numpy<int> owners_of(Cells domain, const Ids& ids) {
  return to_numpy(unlocked([&] { return domain.owners_of(span_of(ids)); }));
}

using Nodes = nb::typed<nb::tuple, IndexedDomain, Numpy<local_index>>;
using Numbered = nb::typed<nb::tuple, int, Numpy<global_index>>;

template <class From>
Nodes localize_with(const From& nodes, const Ids& ids) {
  auto made = unlocked([&] { return localize(span_of(ids), nodes); });
  return nb::make_tuple(std::move(made.nodes), to_numpy(std::move(made.connectivity)));
}

Numbered read_part(const std::string& folder, const Communicator& comm) {
  auto part = unlocked([&] { return read_partition(folder, comm); });
  return nb::make_tuple(part.owned, to_numpy(std::move(part.ghosts)));
}

Numbered read_keys(const std::string& path, const Communicator& comm) {
  auto read = unlocked([&] { return read_partition_keys(path, comm); });
  return nb::make_tuple(read.per_id, to_numpy(std::move(read.keys)));
}

void bind_cells(nb::module_& module) {
  nb::class_<IndexedDomain>(module, "IndexedDomain")
      .def_static(
          "from_block", &from_block, "comm"_a, "owned"_a, "ghosts"_a, "self_ghosts"_a, Unlocked())
      .def_static("from_owned_ids", &from_owned_ids, "comm"_a, "owned_ids"_a, "ghosts"_a,
          "self_ghosts"_a, Unlocked())
      .def_prop_ro("owned", &IndexedDomain::owned)
      .def_prop_ro("ghosts", &IndexedDomain::ghosts)
      .def_prop_ro("global_size", &IndexedDomain::global_size)
      .def_prop_ro("first", &IndexedDomain::first)
      .def("ghost_ids", [](Cells domain) { return to_numpy(vector_of(domain.ghost_ids())); })
      .def("ghost_owners", [](Cells domain) { return to_numpy(vector_of(domain.ghost_owners())); })
      .def("global_of", &global_of, "cells"_a)
      .def("local_of", &local_of, "ids"_a)
      .def("owners_of", &owners_of, "ids"_a);
  module.def("localize", &localize_with<IndexedDomain>, "nodes"_a, "ids"_a);
  module.def("localize_alone", &localize_with<Communicator>, "comm"_a, "ids"_a);
  module.def("read_partition", &read_part, "folder"_a, "comm"_a);
  module.def("read_partition_keys", &read_keys, "path"_a, "comm"_a);
}

nb::object selection_of(const Selection& selection, int dimensions) {
  if (dimensions == 0) return nb::cast(to_numpy(std::vector<local_index>(selection.cells)));
  return list_of(selection.boxes, [=](const BoxPiece& piece) {
    return nb::make_tuple(piece.block, corners_of(piece.cells, dimensions));
  });
}

nb::list stages_of(const Pattern& pattern) {
  return list_of(pattern.stages, [&](const Stage& stage) {
    return list_of(stage, [&](const Link& link) {
      return nb::make_tuple(link.rank, selection_of(link.send, pattern.dimensions),
          selection_of(link.receive, pattern.dimensions));
    });
  });
}

nb::tuple sides_of(const Pattern& pattern, bool as_fields_may_have) {
  return tuple_of(pattern.dimensions,
      [&](std::size_t d) {  // excludes the next block's shared points
        const int next = as_fields_may_have ? pattern.stagger.more(static_cast<int>(d)) : 0;
        return nb::make_tuple(pattern.halo.lower[d], pattern.halo.upper[d] - next);
      });
}

void bind_pattern(nb::module_& module) {
  using Given = const Pattern&;
  nb::class_<Pattern>(module, "Pattern")
      .def_ro("communicator", &Pattern::communicator)
      .def_ro("dimensions", &Pattern::dimensions)
      .def_ro("owned", &Pattern::owned)
      .def_ro("ghosts", &Pattern::ghosts)
      .def_prop_ro("halo", [](Given pattern) -> Sides { return sides_of(pattern, false); })
      .def_prop_ro("depth", [](Given pattern) -> Sides { return sides_of(pattern, true); })
      .def_prop_ro("stagger",
          [](Given pattern) -> Ints {
            return tuple_of(
                pattern.dimensions, [&](std::size_t d) { return int{pattern.stagger.along[d]}; });
          })
      .def_prop_ro("owns_ends", [](Given pattern) { return !(pattern.ends == HaloWidth(0)); })
      .def_prop_ro("blocks",
          [](Given pattern) -> nb::typed<nb::list, Corners> {
            return list_of(pattern.blocks,
                [&](const Box& box) { return corners_of(box, pattern.dimensions); });
          })
      .def("stages", &stages_of,
          nb::sig("def stages(self) -> list[list[tuple[int, typing.Any, typing.Any]]]"))
      .def("describe", &describe)
      .def("neighbor_ranks", &neighbor_ranks)
      .def("cells_sent", &cells_sent);
  module.def("cube_seams", &cube, "first_axis"_a);
  module.def("build_pattern", nb::overload_cast<Grid>(&build_pattern), "domain"_a, Unlocked());
  module.def(
      "build_pattern",
      [](Cells domain, double timeout_s) {
        return collectively(domain.communicator(), "build_pattern", timeout_s,
            [&] { return build_pattern(domain); });
      },
      "domain"_a, "timeout_s"_a = 0, Unlocked());
}

}  // namespace

void bind_domains(nb::module_& module) {
  bind_grid(module);
  bind_cells(module);
  bind_pattern(module);
}

}  // namespace parhelion::python
