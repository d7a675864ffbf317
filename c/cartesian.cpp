#include <algorithm>

#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

// Empty if all are 0.
template <class Value>
std::vector<Value> unless_zero(const Value* values, std::size_t count) {
  if (std::all_of(values, values + count, [](Value value) { return value == 0; })) return {};
  return {values, values + count};
}

CartesianOptions cartesian_options_from(
    const phl_cartesian_options& given, const std::vector<global_index>& extents, int ranks) {
  const int dimensions = static_cast<int>(extents.size());
  CartesianOptions options;
  options.halo = HaloWidth(0);
  for (int d = 0; d < dimensions; ++d) {
    options.halo.lower[d] = given.halo_lower[d];
    options.halo.upper[d] = given.halo_upper[d];
    options.periodic.along[d] = given.periodic[d] != 0;
  }
  options.halo.listed = options.periodic.listed = dimensions;
  options.process_grid = unless_zero(given.process_grid, extents.size());
  options.blocks_per_rank = unless_zero(given.blocks_per_rank, extents.size());
  for (int d = 0; d < dimensions; ++d) {
    const int64_t* const cells = given.splits[d];
    if (cells != nullptr && given.process_grid[d] < 1)
      refuse("splits are given in dimension ", d, " without a process grid: give both");
    options.splits.emplace_back();
    if (cells != nullptr) options.splits.back().assign(cells, cells + given.process_grid[d]);
  }
  options.neighbors = in_range<Neighbors>(given.neighbors, 1, "kind of neighbors");
  options.algorithm = in_range<Algorithm>(given.algorithm, 1, "algorithm");
  options.boundary = in_range<Boundary>(given.boundary, 1, "boundary");
  std::vector<int> table;
  if (given.ranks != nullptr) table.assign(given.ranks, given.ranks + ranks);
  options.rank_order = rank_order_from(given.rank_order, std::move(table));
  if (given.has_tiles != 0) options.tile_axis = given.tile_axis;
  require_array(given.seams, given.seam_count, "seams");
  for (int i = 0; i < given.seam_count; ++i)
    options.seams.push_back(seam_from(given.seams[i], given.has_tiles != 0, dimensions));
  if (given.mask != nullptr) {
    auto own = unless_zero(given.mask_extents, extents.size());
    options.mask = mask_of(extents, own.empty() ? extents : std::move(own), given.mask);
  }
  return options;
}

template <class BoxOf>
int copy_box(phl_cartesian domain, int block, BoxOf box_of, int64_t* lower, int64_t* upper) {
  return with(domain, [&](const auto& object) {
    const Box box = (object.grid.*box_of)(block_of(object.grid, block));
    if (lower != nullptr) std::copy_n(box.lo.begin(), object.grid.dimensions(), lower);
    if (upper != nullptr) std::copy_n(box.hi.begin(), object.grid.dimensions(), upper);
  });
}

CartesianDomain::Place owner_of(const CartesianDomain& domain, const int64_t* cell) {
  std::array<int, max_dimensions> position{};
  for (int d = 0; d < domain.dimensions(); ++d) {
    const auto& starts = domain.axis(d).starts;
    if (cell[d] < 0 || cell[d] >= domain.axis(d).extent)
      refuse("cell coordinate ", cell[d], " in dimension ", d, " is outside of 0 … ",
          domain.axis(d).extent - 1);
    position[d] =
        static_cast<int>(std::upper_bound(starts.begin(), starts.end(), cell[d]) - starts.begin()) -
        1;
  }
  return domain.place_of(position);
}

}  // namespace

namespace parhelion::c {

RankOrder rank_order_from(int rule, std::vector<int> table) {
  in_range(rule, PHL_RANKS_OF_COMMUNICATOR, "order of ranks");
  if (table.empty()) return static_cast<RankFill>(rule);
  if (rule != PHL_RANKS_LAST_FASTEST)
    refuse("a table of ranks and a rule for their order are given: give one of the two");
  return table;
}

int block_of(const CartesianDomain& domain, int64_t block) {
  const auto count = static_cast<int64_t>(domain.blocks().size());
  if (block < 0 || block >= count)
    refuse("block ", block, " does not exist: this rank has ", count);
  return static_cast<int>(block);
}

}  // namespace parhelion::c

extern "C" {

int phl_cartesian_create(MPI_Comm comm, int dimensions, const int64_t* extents,
    const phl_cartesian_options* options, phl_cartesian* domain) {
  const auto read = [&](const Communicator& own) {
    if (dimensions < 1 || dimensions > PHL_MAX_DIMENSIONS)  // the constructor throws
      return GivenGrid{
          std::vector<global_index>(static_cast<std::size_t>(std::max(dimensions, 0)))};
    require_array(extents, dimensions, "extents");
    GivenGrid grid{{extents, extents + dimensions}};
    if (options != nullptr)
      grid.options = cartesian_options_from(*options, grid.extents, own.size());
    return grid;
  };
  return make_domain(comm, "phl_cartesian_create", domain, read);
}

int phl_cartesian_staggered(phl_cartesian domain, const int32_t* stagger, phl_cartesian* points) {
  return with(domain, [&](const auto& object) {
    require_output(points, "points");
    require_output(stagger, "stagger");
    keep(CartesianObject{object.grid.staggered(stagger_from(stagger, object.grid.dimensions()))},
        *points);
  });
}

int phl_cube_seams(int first_axis, phl_seam* seams) {
  return guarded([&] {
    require_output(seams, "seams");
    for (const auto& [from, to, axes, backward, pivot] : cube_seams(first_axis)) {
      const auto side = [](Side side) { return side == Side::lower ? PHL_LOWER : PHL_UPPER; };
      *seams++ = {from.axis, side(from.side), from.tile, to.axis, side(to.side), to.tile, {},
          backward, PHL_PIVOT_CORNER};
    }
  });
}

int phl_cartesian_free(phl_cartesian* domain) { return free_handle(domain); }

int phl_cartesian_process_grid(phl_cartesian domain, int32_t* grid, int32_t* coordinates) {
  return with(domain, [&](const auto& object) {
    put_all(grid, object.grid.process_grid());
    put_all(coordinates, object.grid.coordinates());
  });
}

int phl_cartesian_coordinates(phl_cartesian domain, int rank, int32_t* coordinates) {
  return with(domain, [&](const auto& object) {
    if (rank < 0 || rank >= object.grid.communicator().size())
      refuse("rank ", rank, " does not exist");
    put_all(coordinates, object.grid.coordinates_of(rank));
  });
}

int phl_cartesian_blocks(phl_cartesian domain, int32_t* count) {
  return with(domain, [&](const auto& object) {
    require_output(count, "count");
    *count = static_cast<int32_t>(object.grid.blocks().size());
  });
}

int phl_cartesian_owned(phl_cartesian domain, int block, int64_t* lower, int64_t* upper) {
  return copy_box(domain, block, &CartesianDomain::owned, lower, upper);
}

int phl_cartesian_extended(phl_cartesian domain, int block, int64_t* lower, int64_t* upper) {
  return copy_box(domain, block, &CartesianDomain::extended, lower, upper);
}

int phl_cartesian_owner(phl_cartesian domain, const int64_t* cell, int32_t* rank, int32_t* block) {
  return with(domain, [&](const auto& object) {
    require_array(cell, object.grid.dimensions(), "cell");
    const auto place = owner_of(object.grid, cell);
    put(rank, place.rank);
    put(block, place.block);
  });
}

}  // extern "C"
