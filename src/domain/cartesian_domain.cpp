#include <numeric>
#include <ranges>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "domain/blocks.hpp"

namespace parhelion {
namespace {

constexpr double most_cells = 281474976710656.0;
constexpr double most_blocks = 1 << 20;
constexpr global_index most_images = 1000;

template <class... Parts>
void require(bool good, const Parts&... parts) {
  if (!good) refuse(parts...);
}

// −1 if it overflows 64 bits.
global_index places_of(const std::vector<int>& grid) {
  global_index product = 1;
  for (int ranks : grid) {
    require(ranks >= 1, "a process grid needs at least 1 rank in every dimension");
    if (product > 0 && __builtin_mul_overflow(product, global_index{ranks}, &product)) product = -1;
  }
  return product;
}

// Cells and bytes must fit in 64 bits; halos must not hold billions of periodic copies.
void validate_sizes(const std::vector<global_index>& extents, const CartesianOptions& options) {
  double cells = 1, blocks = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const int widest = std::max(options.halo.lower[d], options.halo.upper[d]);
    require(!options.periodic.along[d] || extents[d] == 0 || widest / extents[d] <= most_images,
        "halo width ", widest, " goes around the ", extents[d], " cells of periodic dimension ", d,
        " more than ", most_images, " times: use a narrower halo");
    cells *= static_cast<double>(extents[d]) + options.halo.lower[d] + options.halo.upper[d];
    if (!options.blocks_per_rank.empty()) blocks *= options.blocks_per_rank[d];
  }
  require(cells <= most_cells,
      "the domain and its halo have more than 2^48 cells: use smaller extents or halo widths");
  require(blocks <= most_blocks, "more than 2^20 blocks per rank: use fewer");
}

void validate(
    const std::vector<global_index>& extents, const CartesianOptions& options, int ranks) {
  const int dims = extents.size();
  require(dims >= 1 && dims <= max_dimensions, "a Cartesian domain has 1 to 4 dimensions, not ",
      dims, ": pass one extent per dimension");
  require_dimensions(options.halo.listed, dims, "the halo width");
  require_dimensions(options.periodic.listed, dims, "periodic");
  for (int d = 0; d < dims; ++d) {
    const std::string where = concat(" in dimension ", d);
    require(
        extents[d] >= 0, "extent ", extents[d], where, " is negative: pass the number of cells");
    require(options.halo.lower[d] >= 0 && options.halo.upper[d] >= 0,
        "negative halo width" + where + ": use 0 for a side without halo");
  }
  const auto& grid = options.process_grid;
  if (!grid.empty()) {
    require(std::ssize(grid) == dims, "the process grid has ", grid.size(),
        " dimensions, but the domain has ", dims, ": give one number of ranks per dimension");
    const global_index needed = places_of(grid);
    if (options.mask)
      require(needed >= 0 && needed <= most_places, "the process grid ", extents_text(grid),
          " has more than 2^24 places: use fewer");
    require(options.mask || !options.rank_order.ranks.empty() || needed == ranks,
        "the process grid ", extents_text(grid), " needs ",
        (needed < 0 ? "more than 2^63" : concat(needed)), " ranks, but the communicator has ",
        ranks, ": make them equal, or leave the grid out to have one chosen");
  }
  require(options.blocks_per_rank.empty() || std::ssize(options.blocks_per_rank) == dims,
      "blocks_per_rank needs one number per dimension");
  for (int blocks : options.blocks_per_rank)
    require(
        blocks >= 1 && blocks <= 1 << 20, "blocks_per_rank must be at least 1 in every dimension");
  validate_sizes(extents, options);
  require(options.splits.empty() || std::ssize(options.splits) == dims,
      "splits needs one list per dimension (an empty list for an even split)");
  const bool even = std::ranges::all_of(options.splits, &std::vector<global_index>::empty);
  require(
      !options.mask || even || !grid.empty(), "splits and a mask need a process grid: give it too");
  require(options.algorithm == Algorithm::standard || options.neighbors == Neighbors::full,
      "the algorithm by_dimension always fills corners: use Neighbors::full with it, or the "
      "standard algorithm");
}

std::string text(const TileSide& side) {
  return concat((side.tile < 0 ? "" : concat("tile ", side.tile, ", ")), "axis ", side.axis, ", ",
      (side.side == Side::upper ? "upper" : "lower"), " side");
}

std::string text(const Seam& seam) {
  std::string all = text(seam.from) + " to " + text(seam.to) + ", axes";
  for (const int axis : seam.axes) all += concat(" ", axis);
  return concat(
      all, ", backward ", seam.backward, (seam.pivot == Pivot::center ? ", center" : ", corner"));
}

bool is_axis(int axis, int dimensions) { return axis >= 0 && axis < dimensions; }

// Completes a seam's axis map. Default: swap the axes of its sides.
void complete_axes(Seam& seam, int dimensions, int tile_axis) {
  const std::string where = "the seam of " + text(seam.from);
  for (const TileSide& side : {seam.from, seam.to})
    require(is_axis(side.axis, dimensions) && side.axis != tile_axis, where, " has axis ",
        side.axis, " in a domain of ", dimensions, " dimensions",
        (tile_axis < 0 ? "" : concat(", of which axis ", tile_axis, " counts tiles")),
        ": name another axis");
  if (seam.axes.empty()) {
    for (int d = 0; d < dimensions; ++d) seam.axes.push_back(d);
    std::swap(seam.axes[seam.from.axis], seam.axes[seam.to.axis]);
  }
  require(std::ranges::is_permutation(seam.axes, std::views::iota(0, dimensions)) &&
              seam.axes[seam.from.axis] == seam.to.axis &&
              (tile_axis < 0 || seam.axes[tile_axis] == tile_axis),
      where +
          " has axes that are not a permutation, or that do not map the axis of the one side to "
          "that of the other: leave them out, or name one axis of the other side for each");
  unsigned along = (1u << dimensions) - 1;
  along &= ~(1u << seam.from.axis);
  if (tile_axis >= 0) along &= ~(1u << tile_axis);
  require((seam.backward & ~along) == 0,
      where +
          " mirrors an axis that does not lie along it: name axes of the domain other than the "
          "side's");
}

void validate_seam(const Seam& seam, const std::vector<Seam>& all,
    const std::vector<global_index>& extents, const CartesianOptions& options) {
  const std::string where = "the seam of " + text(seam.from);
  const bool is_fold = seam.from == seam.to;
  global_index halo = 0, folded = 0;
  for (const TileSide& side : {seam.from, seam.to}) {
    require(!options.periodic.along[side.axis], where, ": axis ", side.axis,
        " is periodic: a side is joined by a seam or to the opposite one");
    const auto uses = [&](const Seam& each) {
      return (each.from == side) + (each.to == side && !(each.from == each.to));
    };
    int used = 0;
    for (const Seam& each : all) used += uses(each);
    require(used == 1, where + ": " + text(side) + " has two seams: join each side once");
    halo = std::max<global_index>(
        {halo, options.halo.lower[side.axis], options.halo.upper[side.axis]});
  }
  for (std::size_t d = 0; d < extents.size(); ++d)
    require(extents[d] == extents[seam.axes[d]] || static_cast<int>(d) == seam.from.axis, where,
        " joins axes of ", extents[d], " and ", extents[seam.axes[d]], " cells: make them equal");
  for (const Seam& each : all)
    folded += each.from == each.to && each.from.axis == seam.from.axis &&
              each.from.tile == seam.from.tile;
  require(std::min(extents[seam.from.axis], extents[seam.to.axis]) >=
              (is_fold ? folded * halo + 1 : halo),
      where +
          " needs at least as many cells along its axis as the halo has layers, one more for one "
          "folded side, one more than two halos for two: use a narrower halo");
  require(!is_fold || seam == inverse(seam),
      where +
          " joins it to itself by axes that are not swapped in pairs: a fold mirrors axes, or "
          "swaps two of them");
  require(is_fold || seam.pivot == Pivot::corner,
      where +
          " has a center pivot and joins two sides: use it for a side that is joined to itself");
}

// Seams with defaults, one per tile.
std::vector<Seam> validate_seams(
    const std::vector<global_index>& extents, const CartesianOptions& options) {
  const int dims = extents.size(), tile_axis = options.tile_axis;
  std::vector<Seam> all;
  for (Seam seam : options.seams) {
    complete_axes(seam, dims, tile_axis);
    const int tiles = tile_axis < 0 ? 0 : extents[tile_axis];
    const bool every = seam.from.tile == TileSide::every_tile;
    require(every == (seam.to.tile == TileSide::every_tile) && seam.from.tile < tiles &&
                seam.to.tile < tiles && seam.from.tile >= -1 && seam.to.tile >= -1,
        "the seam of ", text(seam.from), " to ", text(seam.to), " in a domain of ", tiles,
        " tiles: name a tile for both sides or for none, from 0 to the number of tiles − 1");
    if (!every || tiles == 0) all.push_back(seam);
    for (int tile = 0; every && tile < tiles; ++tile) {
      seam.from.tile = seam.to.tile = tile;
      all.push_back(seam);
    }
  }
  for (const Seam& seam : all) validate_seam(seam, all, extents, options);
  require(all.empty() ||
              (options.boundary == Boundary::open && options.algorithm == Algorithm::standard),
      "seams need an open boundary and the standard algorithm: choose these, and fill the layers "
      "beyond open sides on the ranks there");
  return all;
}

// Only seams join tiles.
void validate_tiles(const std::vector<global_index>& extents, CartesianOptions& options) {
  const int dims = extents.size(), axis = options.tile_axis;
  if (axis == CartesianOptions::no_tiles) return;
  require(is_axis(axis, dims) && dims > 1, "axis ", axis, " cannot count tiles in a domain of ",
      dims, " dimensions: name one of several");
  if (options.halo.listed == 0) options.halo.lower[axis] = options.halo.upper[axis] = 0;
  if (options.periodic.listed == 0) options.periodic.along[axis] = false;
  require(options.halo.lower[axis] == 0 && options.halo.upper[axis] == 0 &&
              !options.periodic.along[axis],
      "axis ", axis,
      " counts tiles, which only seams join: give it no halo, and do not make it periodic");
  require(options.boundary == Boundary::open && options.algorithm == Algorithm::standard,
      "tiles need an open boundary and the standard algorithm");
}

// gcd(ranks, tiles) ranks along the tile axis: all ranks own equally many tiles.
std::vector<int> choose_grid(
    int ranks, std::vector<global_index> extents, const CartesianOptions& options) {
  const int axis = options.tile_axis;
  if (axis == CartesianOptions::no_tiles) return choose_process_grid(ranks, extents, options.halo);
  const int along = std::gcd<global_index>(ranks, std::max<global_index>(extents[axis], 1));
  extents[axis] = 1;
  std::vector<int> grid = choose_process_grid(ranks / along, extents, options.halo);
  grid[axis] *= along;
  return grid;
}

void validate_split(const std::vector<global_index>& split, global_index extent, int ranks, int d) {
  const std::string where = concat(" in dimension ", d);
  require(std::ssize(split) == ranks, "the split has ", split.size(), " parts", where,
      ", but the process grid has ", ranks, " ranks: give one part per rank");
  global_index sum = 0;
  for (global_index part : split) {
    require(part >= 0 && part <= extent, "a part of ", part, " cells", where,
        " does not fit the extent ", extent, ": parts are between 0 and the extent");
    sum += part;
  }
  require(sum == extent, "the split adds up to ", sum, " cells", where, ", the extent is ", extent,
      ": make them equal");
}

std::vector<global_index> starts_of_ranks(
    int d, global_index extent, int ranks, const CartesianOptions& options) {
  std::vector<global_index> starts{0};
  if (options.splits.empty() || options.splits[d].empty()) {
    append_even_parts(starts, extent, ranks);
  } else {
    validate_split(options.splits[d], extent, ranks, d);
    for (global_index part : options.splits[d]) starts.push_back(starts.back() + part);
  }
  return starts;
}

Axis make_axis(int d, global_index extent, int ranks, const CartesianOptions& options) {
  Axis axis;
  axis.extent = extent;
  axis.ranks = ranks;
  axis.blocks_per_rank = options.blocks_per_rank.empty() ? 1 : options.blocks_per_rank[d];
  axis.periodic = options.periodic.along[d];
  axis.lower = options.halo.lower[d];
  axis.upper = options.halo.upper[d];
  const auto per_rank = starts_of_ranks(d, extent, ranks, options);
  axis.starts = {0};
  for (int r = 0; r < ranks; ++r)
    append_even_parts(axis.starts, per_rank[r + 1] - per_rank[r], axis.blocks_per_rank);
  return axis;
}

// First: ranks with a mask agree once more before they compare the rest.
void tell_mask(Properties& told, bool is_there) {
  told.add("whether there is a mask", is_there ? "yes" : "no");
}

// Grid and periodicity of a Cartesian communicator, ranks in row-major order (MPI-4.1 §8.5.1).
void take_topology(CartesianOptions& options, const Communicator& comm, int dimensions) {
  int kind = MPI_UNDEFINED, given = 0;
  check_mpi(MPI_Topo_test(comm.handle(), &kind), "MPI_Topo_test");
  require(kind == MPI_CART,
      "rank_order is that of the communicator, which has no Cartesian topology: pass a "
      "communicator of MPI_Cart_create, or another rank_order");
  check_mpi(MPI_Cartdim_get(comm.handle(), &given), "MPI_Cartdim_get");
  require(given == dimensions, "the Cartesian communicator has ", given,
      " dimensions, but the domain has ", dimensions, ": make them equal");
  std::vector<int> grid(given), periodic = grid, mine = grid;
  check_mpi(MPI_Cart_get(comm.handle(), given, grid.data(), periodic.data(), mine.data()),
      "MPI_Cart_get");
  require(options.process_grid.empty() || options.process_grid == grid,
      "the process grid is not that of the Cartesian communicator: leave it out, or make "
      "them equal");
  for (int d = 0; d < dimensions; ++d) {
    require(!options.periodic.along[d] || periodic[d] != 0, "dimension ", d,
        " is periodic in the domain, but not in the Cartesian communicator: leave `periodic` out, "
        "or make them equal");
    options.periodic.along[d] = periodic[d] != 0;
  }
  options.process_grid = grid;
}

void validate_table(const std::vector<int>& table, global_index places, bool has_mask, int ranks) {
  require(std::ssize(table) == places, "the table of ranks has ", table.size(),
      " entries, but the process grid has ", places,
      " places: give the rank at each place, without those that a mask excludes");
  std::vector<bool> seen(ranks);
  for (const int rank : table) {
    require(rank >= (has_mask ? 0 : -1) && rank < ranks, "the table of ranks has rank ", rank,
        ", which does not exist: use 0 to ", ranks - 1);
    if (rank >= 0) seen[rank] = true;
  }
  const auto absent = std::ranges::find(seen, false) - seen.begin();
  require(absent == ranks, "the table of ranks has no place for rank ", absent,
      ": give each rank a place, or pass a communicator without this rank");
}

// Removes −1, land.
WetPlaces take_wet(std::vector<int>& table) {
  std::vector<std::uint64_t> words((table.size() + 63) / 64);
  for (std::size_t place = 0; place < table.size(); ++place)
    if (table[place] >= 0) words[place / 64] |= std::uint64_t{1} << place % 64;
  return std::erase(table, -1) > 0 ? WetPlaces(std::move(words)) : WetPlaces();
}

// Collective. Only rank 0 reads the mask; without a process grid it chooses one and broadcasts it.
WetPlaces find_wet_places(const Communicator& comm, const std::vector<global_index>& extents,
    CartesianOptions& options, const std::function<void()>& check) {
  WetPlaces wet;
  std::vector<std::uint64_t> words;
  const auto look = [&] {
    check();
    if (comm.rank() != 0) return;
    if (options.process_grid.empty())
      options.process_grid = choose_process_grid(comm.size(), extents, options.halo, options.mask);
    Cuts cuts;
    for (int d = 0; d < std::ssize(extents); ++d) {
      cuts.push_back(starts_of_ranks(d, extents[d], options.process_grid[d], options));
      words.push_back(static_cast<std::uint64_t>(options.process_grid[d]));
    }
    wet = WetPlaces(cuts, options.rank_order.fill, options.mask);
    require(wet.count() > 0, no_wet_cell);
    require(!options.rank_order.ranks.empty() || wet.count() == comm.size(), "the process grid ",
        extents_text(options.process_grid), " has ", wet.count(),
        " places with a wet cell, but the communicator has ", comm.size(), " ranks: start ",
        wet.count(), " ranks, or leave the grid out to have one chosen");
    words.insert(words.end(), wet.words().begin(), wet.words().end());
  };
  require_equal(
      comm, "the arguments of CartesianDomain",
      [&](Properties& told) {
        tell_mask(told, true);
        told.add("the number of dimensions", extents.size());
      },
      "pass the same ones everywhere", look);
  words = from_first(comm, words);
  const auto bits = words.begin() + static_cast<std::ptrdiff_t>(extents.size());
  options.process_grid.assign(words.begin(), bits);
  return WetPlaces({bits, words.end()});
}

// Allocates nothing: allocations happen inside the collective checks.
Axis no_axis() {
  static_assert(max_dimensions == 4);
  return {1, 1, 1, false, 0, 0, 0, {}};
}

}  // namespace

Seam inverse(const Seam& seam) {
  Seam back{seam.to, seam.from, seam.axes, 0, seam.pivot};
  for (std::size_t d = 0; d < seam.axes.size(); ++d) {
    const int there = seam.axes[d];
    back.axes[there] = static_cast<int>(d);
    back.backward |= (seam.backward >> d & 1) << there;
  }
  return back;
}

Seam fold(int axis, Side side, Pivot pivot, int mirrored) {
  const TileSide folded{axis, side};
  const bool in_range = is_axis(mirrored, max_dimensions);
  return {folded, folded, {}, static_cast<std::uint8_t>(in_range ? 1u << mirrored : 0xffu), pivot};
}

Seam fold(int axis, Side side, Pivot pivot) {
  return fold(axis, side, pivot, axis == 0 ? 1 : axis - 1);
}

std::vector<Seam> cube_seams(int first_axis) {
  require(first_axis >= 0 && first_axis + 1 < max_dimensions,
      "a cube's faces need two consecutive axes, of at most 4");
  const int x = first_axis, y = first_axis + 1;
  const auto backward = static_cast<std::uint8_t>(1u << x);
  constexpr Side lower = Side::lower, upper = Side::upper;
  std::vector<Seam> seams;
  for (int face = 0; face < 4; ++face)
    seams.push_back({{x, upper, face}, {x, lower, (face + 1) % 4}});
  seams.push_back({{y, upper, 0}, {y, lower, 4}});
  seams.push_back({{y, upper, 1}, {x, upper, 4}});
  seams.push_back({{y, upper, 2}, {y, upper, 4}, {}, backward});
  seams.push_back({{y, upper, 3}, {x, lower, 4}, {}, backward});
  seams.push_back({{y, lower, 0}, {y, upper, 5}});
  seams.push_back({{y, lower, 1}, {x, upper, 5}, {}, backward});
  seams.push_back({{y, lower, 2}, {y, lower, 5}, {}, backward});
  seams.push_back({{y, lower, 3}, {x, lower, 5}});
  return seams;
}

CartesianDomain::CartesianDomain(
    std::vector<global_index> extents, CartesianOptions options, Communicator comm)
    : dimensions_(extents.size()), axes_{no_axis(), no_axis(), no_axis(), no_axis()},
      boundary_(options.boundary), neighbors_(options.neighbors), algorithm_(options.algorithm),
      comm_(comm), fill_(options.rank_order.fill) {
  collectively(comm_, "CartesianDomain", [&] {
    const auto check_grid = [&] {
      validate(extents, options, comm_.size());
      if (fill_ == RankFill::of_communicator) {
        take_topology(options, comm_, dimensions_);
        validate(extents, options, comm_.size());
      }
      validate_tiles(extents, options);
    };
    if (options.mask) wet_ = find_wet_places(comm_, extents, options, check_grid);
    const auto check = [&] {
      for (Axis& axis : axes_) axis.starts = {0, 1};
      check_grid();
      const auto grid = options.process_grid.empty() ? choose_grid(comm_.size(), extents, options)
                                                     : options.process_grid;
      std::vector<int>& table = options.rank_order.ranks;
      if (!table.empty())
        validate_table(
            table, wet_.empty() ? places_of(grid) : wet_.count(), !wet_.empty(), comm_.size());
      require((wet_.empty() && std::ranges::find(table, -1) == table.end()) ||
                  options.algorithm == Algorithm::standard,
          "the algorithm by_dimension forwards corners through neighbors, and land has no ranks: "
          "use the standard algorithm with land");
      seams_ = validate_seams(extents, options);
      tile_axis_ = options.tile_axis;
      for (int d = 0; d < dimensions_; ++d) {
        axes_[d] = make_axis(d, extents[d], grid[d], options);
        halo_.lower[d] = axes_[d].lower;
        halo_.upper[d] = axes_[d].upper;
      }
      rank_at_ = std::move(table);
    };
    require_equal(
        comm_, "the arguments of CartesianDomain", [this](Properties& told) { tell(told); },
        "pass the same ones everywhere", check);
    if (wet_.empty()) wet_ = take_wet(rank_at_);
    places_.resize(rank_at_.size());
    std::iota(places_.begin(), places_.end(), 0);
    std::ranges::stable_sort(places_, {}, [this](int place) { return rank_at_[place]; });
    blocks_ = blocks_of(comm_.rank());
  });
}

void CartesianDomain::tell(Properties& told) const {
  tell_mask(told, !wet_.empty());
  told.add("the number of dimensions", dimensions_);
  for (int d = 0; d < dimensions_; ++d) {
    told.add("the extent in dimension %", axes_[d].extent, {d});
    told.add("the lower halo width in dimension %", axes_[d].lower, {d});
    told.add("the upper halo width in dimension %", axes_[d].upper, {d});
    told.add("whether it is periodic in dimension %", axes_[d].periodic ? "yes" : "no", {d});
  }
  for (int d = 0; d < dimensions_; ++d) {  // may follow from the cells
    const std::vector<global_index>& starts = axes_[d].starts;
    told.add("the process grid in dimension %", axes_[d].ranks, {d});
    told.add("blocks_per_rank in dimension %", axes_[d].blocks_per_rank, {d});
    for (int b = 0; b < std::ssize(starts); ++b)
      told.add("the first cell of block % in dimension %", starts[b], {b, d});
  }
  told.add("neighbors", neighbors_ == Neighbors::full ? "full" : "faces");
  told.add("the algorithm", algorithm_ == Algorithm::standard ? "standard" : "by_dimension");
  told.add("the boundary", boundary_ == Boundary::owned ? "owned" : "open");
  told.add("the axis that counts tiles", tile_axis_);
  told.add("the number of seams", seams_.size());
  for (std::size_t i = 0; i < seams_.size(); ++i)
    told.add("seam %", text(seams_[i]), {static_cast<int>(i)});
  const char* fastest = fill_ == RankFill::first_fastest ? "the first dimension fastest"
                                                         : "the last dimension fastest";
  told.add("the order of ranks", fastest);
  told.add("whether there is a table of ranks", rank_at_.empty() ? "no" : "yes");
  for (std::size_t place = 0; place < rank_at_.size(); ++place)
    told.add("the rank at place % of the process grid", rank_at_[place], {static_cast<int>(place)});
}

std::span<const int> CartesianDomain::held_by(const int& rank) const {
  if (rank_at_.empty()) return {&rank, 1};
  return std::ranges::equal_range(places_, rank, {}, [this](int place) { return rank_at_[place]; });
}

std::vector<Block> CartesianDomain::blocks_of(int rank) const {
  std::vector<Block> blocks;
  for (const int place : held_by(rank)) {
    const auto at = coordinates_at(place);
    Position first{}, end{1, 1, 1, 1};
    for (int d = 0; d < dimensions_; ++d) {
      first[d] = at[d] * axes_[d].blocks_per_rank;
      end[d] = first[d] + axes_[d].blocks_per_rank;
    }
    for_each_index(first, end, [&](const Position& position) {
      const Box owned = owned_at(*this, position);
      Box& held = blocks.emplace_back(Block{owned, owned, position}).held;
      for (int d = 0; d < dimensions_; ++d) held.hi[d] += points_of_next(axes_[d], position[d]);
    });
  }
  return blocks;
}

CartesianDomain CartesianDomain::staggered(const Stagger& stagger) const {
  require_stagger(stagger, dimensions_);
  require(tile_axis_ < 0 || stagger.along[tile_axis_] == 0, "a stagger along axis ", tile_axis_,
      ", which counts tiles: name a stagger for each axis, 0 for that one");
  CartesianDomain points = *this;
  for (int d = 0; d < dimensions_; ++d) {
    Axis& axis = points.axes_[d];
    if (stagger.along[d] == 0) continue;
    require(axis.stagger == 0, "the domain is staggered in dimension ", d,
        " already: start from that of the cells");
    points.stagger_.along[d] = stagger.along[d];
    axis.stagger = stagger.along[d];
    if (!axis.periodic) axis.extent += stagger.more(d), axis.starts.back() += stagger.more(d);
  }
  points.blocks_ = points.blocks_of(comm_.rank());
  return points;
}

std::vector<global_index> CartesianDomain::extents() const {
  std::vector<global_index> result;
  for (int d = 0; d < dimensions_; ++d) result.push_back(axes_[d].extent);
  return result;
}

std::vector<int> CartesianDomain::process_grid() const {
  std::vector<int> result;
  for (int d = 0; d < dimensions_; ++d) result.push_back(axes_[d].ranks);
  return result;
}

std::vector<int> CartesianDomain::coordinates_of(int rank) const {
  const auto places = held_by(rank);
  if (places.empty()) throw std::out_of_range("rank");
  return coordinates_at(places.front());
}

std::vector<int> CartesianDomain::coordinates_at(int place) const {
  std::vector<int> result(dimensions_);
  if (!wet_.empty()) place = wet_.place_of(place);
  for (int i = 0; i < dimensions_; ++i) {
    const int d = fill_ == RankFill::first_fastest ? i : dimensions_ - 1 - i;
    result[d] = place % axes_[d].ranks;
    place /= axes_[d].ranks;
  }
  return result;
}

CartesianDomain::Place CartesianDomain::place_of(
    const std::array<int, max_dimensions>& position) const {
  Place place{0, 0};
  int blocks = 1;
  for (int i = 0; i < dimensions_; ++i) {
    const int d = fill_ == RankFill::first_fastest ? dimensions_ - 1 - i : i;
    place.rank = place.rank * axes_[d].ranks + position[d] / axes_[d].blocks_per_rank;
    place.block = place.block * axes_[i].blocks_per_rank + position[i] % axes_[i].blocks_per_rank;
    blocks *= axes_[i].blocks_per_rank;
  }
  if (!wet_.empty()) place.rank = wet_.rank_of(place.rank);
  if (!rank_at_.empty() && place.rank >= 0) {
    const int at = std::exchange(place.rank, rank_at_[place.rank]);
    const auto places = held_by(place.rank);
    place.block += blocks * static_cast<int>(std::ranges::lower_bound(places, at) - places.begin());
  }
  return place;
}

}  // namespace parhelion
