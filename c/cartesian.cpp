#include "domain/blocks.hpp"
#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

// Empty if all are 0.
template <class Value>
std::vector<Value> unless_zero(const Value* values, std::size_t count) {
  if (std::none_of(values, values + count, std::identity())) return {};
  return {values, values + count};
}

int32_t c_side(const TileSide& of) { return of.side == Side::lower ? PHL_LOWER : PHL_UPPER; }

CartesianOptions cartesian_options_from(
    const phl_cartesian_options& given, const std::vector<global_index>& extents, int ranks) {
  const int dimensions = static_cast<int>(extents.size());
  CartesianOptions options{
      .halo = HaloWidth(std::to_array(given.halo_lower), std::to_array(given.halo_upper)),
      .process_grid = unless_zero(given.process_grid, extents.size()),
      .blocks_per_rank = unless_zero(given.blocks_per_rank, extents.size()),
      .neighbors = in_range<Neighbors>(given.neighbors, 1, "kind of neighbors"),
      .algorithm = in_range<Algorithm>(given.algorithm, 1, "algorithm"),
      .rank_order = rank_order_from(given.rank_order,
          List(given.ranks, given.rank_count || !given.ranks ? given.rank_count : ranks, "ranks")),
      .boundary = in_range<Boundary>(given.boundary, 1, "boundary")};
  std::ranges::copy(given.periodic, options.periodic.along.begin());
  options.halo.listed = options.periodic.listed = dimensions;
  for (int d = 0; d < dimensions; ++d) {
    const int64_t* const cells = given.splits[d];
    if (cells && given.process_grid[d] < 1)
      refuse("splits are given in dimension ", d, " without a process grid: give both");
    options.splits.push_back(List(cells, cells ? given.process_grid[d] : 0, "splits"));
  }
  if (given.has_tiles) options.tile_axis = given.tile_axis;
  for (const phl_seam& seam : List(given.seams, given.seam_count, "seams"))
    options.seams.push_back(seam_from(seam, given.has_tiles, dimensions));
  if (given.mask) {
    const auto own = unless_zero(given.mask_extents, extents.size());
    options.mask = mask_of(extents, own.empty() ? extents : own, given.mask);
  }
  return options;
}

template <class BoxOf>
int copy_box(phl_cartesian domain, int block, BoxOf box_of, int64_t* lower, int64_t* upper) {
  return with(domain, [&](auto& object) {
    const Box box = (object.*box_of)(block_of(object, block));
    put_all(lower, std::span(box.lo).first(object.dimensions()));
    put_all(upper, std::span(box.hi).first(object.dimensions()));
  });
}

}  // namespace

namespace parhelion::c {

RankOrder rank_order_from(int rule, std::vector<int> table) {
  in_range(rule, PHL_RANKS_OF_COMMUNICATOR, "order of ranks");
  RankOrder order = static_cast<RankFill>(rule);
  order.ranks = std::move(table);
  return order;
}

Seam seam_from(const phl_seam& given, bool has_tiles, int dimensions) {
  const auto side = [&](int axis, int which, int tile) -> TileSide {
    return {axis, in_range(which, PHL_LOWER, "side") == PHL_LOWER ? Side::lower : Side::upper,
        has_tiles ? tile : TileSide::every_tile};
  };
  Seam seam{side(given.from_axis, given.from_side, given.from_tile),
      side(given.to_axis, given.to_side, given.to_tile)};
  seam.axes = unless_zero(given.axes, dimensions);
  seam.backward = static_cast<std::uint8_t>(std::clamp(given.backward, 0, 0xff));
  seam.pivot = in_range<Pivot>(given.pivot, PHL_PIVOT_CENTER, "pivot");
  return seam;
}

int block_of(const CartesianDomain& domain, int64_t block) {
  if (block < 0 || block >= std::ssize(domain.blocks()))
    refuse("block ", block, " does not exist: this rank has ", domain.blocks().size());
  return block;
}

}  // namespace parhelion::c

extern "C" {

int phl_cartesian_create(MPI_Comm comm, int dimensions, const int64_t* extents,
    const phl_cartesian_options* options, phl_cartesian* domain) {
  return create_on(comm, __func__, domain, [&](const Communicator& own) {
    require_dimensions(dimensions);
    const std::vector<global_index> cells = List(extents, dimensions, "extents");
    return CartesianObject{{cells,
        options ? cartesian_options_from(*options, cells, own.size()) : CartesianOptions{}, own}};
  });
}

int phl_cartesian_staggered(phl_cartesian domain, const int32_t* stagger, phl_cartesian* points) {
  return with(domain, [&](auto& object) {
    require_output(stagger, "stagger");
    create(points, [&] {
      return CartesianObject{object.staggered(stagger_from(stagger, object.dimensions()))};
    });
  });
}

int phl_cube_seams(int first_axis, phl_seam* seams) {
  return guarded([&] {
    require_output(seams, "seams");
    for (const auto& [from, to, axes, backward, pivot] : cube_seams(first_axis))
      *seams++ = {from.axis, c_side(from), from.tile, to.axis, c_side(to), to.tile, {}, backward,
          PHL_PIVOT_CORNER};
  });
}

int phl_cartesian_process_grid(phl_cartesian domain, int32_t* grid, int32_t* coordinates) {
  return with(domain, [&](auto& object) {
    put_all(grid, object.process_grid());
    put_all(coordinates, object.coordinates());
  });
}

int phl_cartesian_coordinates(phl_cartesian domain, int rank, int32_t* coordinates) {
  return with(domain, [&](auto& object) {
    in_range(rank, object.communicator().size() - 1, "rank");
    put_all(coordinates, object.coordinates_of(rank));
  });
}

int phl_cartesian_blocks(phl_cartesian domain, int32_t* count) {
  return with(domain, [&](auto& object) { put(count, object.blocks().size()); });
}

int phl_cartesian_owned(phl_cartesian domain, int block, int64_t* lower, int64_t* upper) {
  return copy_box(domain, block, &CartesianDomain::owned, lower, upper);
}

int phl_cartesian_extended(phl_cartesian domain, int block, int64_t* lower, int64_t* upper) {
  return copy_box(domain, block, &CartesianDomain::extended, lower, upper);
}

int phl_cartesian_owner(phl_cartesian domain, const int64_t* cell, int32_t* rank, int32_t* block) {
  return with(domain, [&](auto& object) {
    Position position{};
    for (int d = 0; const int64_t at : List(cell, object.dimensions(), "cell")) {
      const Axis& axis = object.axis(d);
      if (at < 0 || at >= axis.extent)
        refuse("cell coordinate ", at, " in dimension ", d, " is outside 0 … ", axis.extent - 1);
      position[d++] = block_at(axis, at);
    }
    const auto [of, number] = object.place_of(position);
    put(rank, of);
    put(block, number);
  });
}

}  // extern "C"
