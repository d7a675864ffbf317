#include "parhelion/domain/cartesian_domain.hpp"

#include <algorithm>
#include <numeric>

#include "parhelion/core/agreement.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr double most_cells = 281474976710656.0;
constexpr double most_blocks = 1 << 20;
constexpr global_index most_images = 1000;

std::string number(global_index value) { return std::to_string(value); }

void require(bool good, const std::string& message) {
    if (!good) throw Error(message);
}

// "2 × 2 × 3" and the ranks that it needs; −1 where they do not fit 64 bits.
std::pair<std::string, global_index> grid_and_ranks(const std::vector<int>& grid) {
    std::string text;
    global_index product = 1;
    for (int ranks : grid) {
        require(ranks >= 1, "a process grid needs at least 1 rank in every dimension");
        text += (text.empty() ? "" : " × ") + number(ranks);
        if (product > 0 && __builtin_mul_overflow(product, global_index{ranks}, &product)) product = -1;
    }
    return {text, product};
}

// Numbers of cells and bytes must fit 64 bits, and a halo must not be cut into billions of periodic images.
void validate_sizes(const std::vector<global_index>& extents, const CartesianOptions& options) {
    double cells = 1, blocks = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        const int widest = std::max(options.halo.lower[d], options.halo.upper[d]);
        require(!options.periodic.along[d] || extents[d] == 0 || widest / extents[d] <= most_images,
                "halo width " + number(widest) + " goes around the " + number(extents[d]) + " cells of periodic dimension " +
                number(static_cast<int>(d)) + " more than " + number(most_images) + " times: use a narrower halo");
        cells *= static_cast<double>(extents[d]) + options.halo.lower[d] + options.halo.upper[d];
        if (!options.blocks_per_rank.empty()) blocks *= options.blocks_per_rank[d];
    }
    require(cells <= most_cells, "the domain and its halo have more than 2^48 cells: use smaller extents or halo widths");
    require(blocks <= most_blocks, "more than 2^20 blocks per rank: use fewer");
}

void validate(const std::vector<global_index>& extents, const CartesianOptions& options, int ranks) {
    const int dims = static_cast<int>(extents.size());
    require(dims >= 1 && dims <= max_dimensions,
            "a Cartesian domain has 1 to 4 dimensions, not " + number(dims) + ": pass one extent per dimension");
    require_dimensions(options.halo.listed, dims, "the halo width");
    require_dimensions(options.periodic.listed, dims, "periodic");
    for (int d = 0; d < dims; ++d) {
        const std::string where = " in dimension " + number(d);
        require(extents[d] >= 0, "extent " + number(extents[d]) + where + " is negative: pass the number of cells");
        require(options.halo.lower[d] >= 0 && options.halo.upper[d] >= 0,
                "negative halo width" + where + ": use 0 for a side without halo");
    }
    const auto& grid = options.process_grid;
    if (!grid.empty()) {
        require(static_cast<int>(grid.size()) == dims, "the process grid has " + number(static_cast<int>(grid.size())) +
                " dimensions and the domain " + number(dims) + ": give one number of ranks per dimension");
        const auto [text, needed] = grid_and_ranks(grid);
        require(needed == ranks, "the process grid " + text + " needs " + (needed < 0 ? "more than 2^63" : number(needed)) +
                " ranks and the communicator has " + number(ranks) + ": make them equal, or leave the grid out to have one chosen");
    }
    require(options.blocks_per_rank.empty() || static_cast<int>(options.blocks_per_rank.size()) == dims,
            "blocks_per_rank needs one number per dimension");
    for (int blocks : options.blocks_per_rank)
        require(blocks >= 1 && blocks <= 1 << 20, "blocks_per_rank must be at least 1 in every dimension");
    validate_sizes(extents, options);
    require(options.splits.empty() || static_cast<int>(options.splits.size()) == dims,
            "splits needs one list per dimension (an empty list for an even split)");
    require(options.algorithm == Algorithm::standard || options.neighbors == Neighbors::full,
            "the staged algorithm fills corners by its nature: use Neighbors::full with it, or the standard algorithm");
}

void validate_split(const std::vector<global_index>& split, global_index extent, int ranks, int d) {
    const std::string where = " in dimension " + number(d);
    require(static_cast<int>(split.size()) == ranks, "the split has " + number(static_cast<int>(split.size())) +
            " parts" + where + " and the process grid " + number(ranks) + " ranks: give one part per rank");
    global_index sum = 0;
    for (global_index part : split) {
        require(part >= 0 && part <= extent, "a part of " + number(part) + " cells" + where + " does not fit the extent " +
                number(extent) + ": parts are between 0 and the extent");
        sum += part;
    }
    require(sum == extent, "the split adds up to " + number(sum) + " cells" + where + ", the extent is " +
            number(extent) + ": make them equal");
}

// `parts` nearly equal parts; the first ones get the cells that are left over.
void append_even_parts(std::vector<global_index>& starts, global_index cells, int parts) {
    const global_index begin = starts.back(), size = cells / parts, rest = cells % parts;
    for (global_index i = 1; i <= parts; ++i) starts.push_back(begin + i * size + std::min(i, rest));
}

Axis make_axis(int d, global_index extent, int ranks, const CartesianOptions& options) {
    Axis axis;
    axis.extent = extent;
    axis.ranks = ranks;
    axis.blocks_per_rank = options.blocks_per_rank.empty() ? 1 : options.blocks_per_rank[d];
    axis.periodic = options.periodic.along[d];
    axis.lower = options.halo.lower[d];
    axis.upper = options.halo.upper[d];
    std::vector<global_index> per_rank{0};
    if (options.splits.empty() || options.splits[d].empty()) {
        append_even_parts(per_rank, extent, ranks);
    } else {
        validate_split(options.splits[d], extent, ranks, d);
        for (global_index part : options.splits[d]) per_rank.push_back(per_rank.back() + part);
    }
    axis.starts = {0};
    for (int r = 0; r < ranks; ++r) append_even_parts(axis.starts, per_rank[r + 1] - per_rank[r], axis.blocks_per_rank);
    return axis;
}

void tell_cells(Properties& told, const Axis& axis, int d) {
    told.add("the extent in dimension %", axis.extent, {d});
    told.add("the lower halo width in dimension %", axis.lower, {d});
    told.add("the upper halo width in dimension %", axis.upper, {d});
    told.add("whether it is periodic in dimension %", axis.periodic ? "yes" : "no", {d});
}

void tell_cuts(Properties& told, const Axis& axis, int d) {
    told.add("the process grid in dimension %", axis.ranks, {d});
    told.add("blocks_per_rank in dimension %", axis.blocks_per_rank, {d});
    for (std::size_t b = 0; b < axis.starts.size(); ++b)
        told.add("the first cell of block % in dimension %", axis.starts[b], {static_cast<int>(b), d});
}

}  // namespace

CartesianDomain::CartesianDomain(std::vector<global_index> extents, CartesianOptions options, Communicator comm)
    : dimensions_(static_cast<int>(extents.size())), neighbors_(options.neighbors), algorithm_(options.algorithm),
      comm_(comm) {
    const Doing doing(comm_, "CartesianDomain");
    validate_together(comm_, [&] {
        validate(extents, options, comm_.size());
        const auto grid = options.process_grid.empty()
            ? choose_process_grid(comm_.size(), extents, options.halo) : options.process_grid;
        for (int d = 0; d < dimensions_; ++d) {
            axes_[d] = make_axis(d, extents[d], grid[d], options);
            halo_.lower[d] = axes_[d].lower;
            halo_.upper[d] = axes_[d].upper;
        }
    });
    require_equal(comm_, "the arguments of CartesianDomain", [this](Properties& told) {
        told.add("the number of dimensions", dimensions_);
        for (int d = 0; d < dimensions_; ++d) tell_cells(told, axes_[d], d);
        for (int d = 0; d < dimensions_; ++d) tell_cuts(told, axes_[d], d);  // which may follow from the cells
        told.add("neighbors", neighbors_ == Neighbors::full ? "full" : "faces");
        told.add("the algorithm", algorithm_ == Algorithm::standard ? "standard" : "staged");
    }, "pass the same ones everywhere");
    const auto mine = coordinates();
    std::array<int, max_dimensions> per_rank{}, i{};
    int count = 1;
    for (int d = 0; d < max_dimensions; ++d) count *= per_rank[d] = axes_[d].blocks_per_rank;
    for (int b = 0; b < count; ++b) {
        Block block;
        for (int d = max_dimensions - 1, rest = b; d >= 0; rest /= per_rank[d], --d) {
            i[d] = rest % per_rank[d];
            block.position[d] = d < dimensions_ ? mine[d] * per_rank[d] + i[d] : 0;
            block.owned.lo[d] = axes_[d].starts[block.position[d]];
            block.owned.hi[d] = axes_[d].starts[block.position[d] + 1];
        }
        blocks_.push_back(block);
    }
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
    std::vector<int> result(static_cast<std::size_t>(dimensions_));
    for (int d = dimensions_ - 1; d >= 0; rank /= axes_[d].ranks, --d) result[d] = rank % axes_[d].ranks;
    return result;
}

CartesianDomain::Place CartesianDomain::place_of(const std::array<int, max_dimensions>& position) const {
    Place place{0, 0};
    for (int d = 0; d < dimensions_; ++d) {
        place.rank = place.rank * axes_[d].ranks + position[d] / axes_[d].blocks_per_rank;
        place.block = place.block * axes_[d].blocks_per_rank + position[d] % axes_[d].blocks_per_rank;
    }
    return place;
}

}  // namespace parhelion
