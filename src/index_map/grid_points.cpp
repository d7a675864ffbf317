#include "index_map/grid_points.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/domain/indexed_domain.hpp"
#include "plan/array_block.hpp"

namespace parhelion {
namespace {

bool components_apart(const Field& field) {
    for (std::size_t b = 0; b < field.blocks.size(); ++b)
        if (field.components > 1 && field.stride_of_components(b) != field.element.size)
            return true;
    return false;
}
byte_count unit_of(const Field& field) {
    return byte_count{field.element.size} * (components_apart(field) ? 1 : field.components);
}

// Points of a block's array without ghosts: those on both sides of its cells.
Box points_of(const CartesianDomain& domain, const Stagger& stagger, int block) {
    Box box = domain.owned(block);
    for (int d = 0; d < domain.dimensions(); ++d)
        box.hi[d] = std::max(box.lo[d], box.hi[d]) + stagger.more(d);
    return box;
}

class Finder {
public:
    Finder(const CartesianDomain& domain, const PointLayout& layout)
        : domain_(domain), layout_(layout), points_(domain.staggered(layout.stagger)),
          several_(domain.blocks().size() > 1) {}

    // Visits the block's border points along staggered dimensions: no others are shared, or held
    // twice.
    void collect() {
        for (; block_ < static_cast<int>(domain_.blocks().size()); ++block_) {
            box_ = points_of(domain_, layout_.stagger, block_);
            extent_ = extent();
            Coordinates at{};
            visit(at, 0, false);
        }
        if (several_) extent_ = static_cast<local_index>(numbered_.size());
    }
    // Number of values of the array; of several blocks, the number of collected points.
    local_index numbers() const { return extent_; }
    // For several blocks: only points that are shared or held twice; no other may be written.
    std::vector<BlockPoints> by_block(const SharedPoints& shared) const {
        std::vector<BlockPoints> blocks(several_ ? domain_.blocks().size() : 0);
        std::vector<bool> used(numbered_.size());
        for (const auto* list : {&shared.points, &first, &again})
            for (const local_index number : *list)
                if (several_) used[number] = true;
        for (std::size_t number = 0; number < numbered_.size(); ++number) {
            if (!used[number]) continue;
            BlockPoints& block = blocks[numbered_[number].first];
            block.places.push_back(numbered_[number].second);
            block.numbers.push_back(static_cast<local_index>(number));
        }
        return blocks;
    }
    // Local numbers of the returned domain index `places`.
    IndexedDomain domain(std::vector<local_index>& places) const {
        std::vector<global_index> owned, others;
        std::vector<local_index> ghosts;
        for (const auto& [id, point] : found_) {
            (point.owned ? owned : others).push_back(id);
            (point.owned ? places : ghosts).push_back(point.place);
        }
        places.insert(places.end(), ghosts.begin(), ghosts.end());
        return IndexedDomain::with_owned_ids(std::move(owned), std::move(others),
                                             domain_.communicator());
    }

    std::vector<local_index> first, again;

private:
    struct Point {
        local_index place;
        bool owned;
    };
    static std::size_t index(int d) { return static_cast<std::size_t>(d); }
    global_index stride(int d) const { return layout_.strides[index(block_)][index(d)]; }

    local_index extent() const {
        global_index last = 0;
        for (int d = 0; d < domain_.dimensions(); ++d)
            last += std::max<global_index>(0, box_.extent(d) - 1) * stride(d);
        if (last >= std::numeric_limits<local_index>::max())
            throw Error("an array has more than 2^31 - 1 values: use more ranks");
        return static_cast<local_index>(last + 1);
    }

    void visit(Coordinates& at, int d, bool border) {
        if (d == domain_.dimensions() || d == max_dimensions) {
            if (border) add(at);
            return;
        }
        const global_index first = box_.lo[index(d)], last = box_.hi[index(d)] - 1;
        const bool staggered = layout_.stagger.more(d) != 0;
        const Axis& axis = points_.axis(d);
        bool inside = border;  // whether points between the ends may be on the border
        for (int rest = d + 1; rest < domain_.dimensions(); ++rest)
            inside = inside || layout_.stagger.more(rest) != 0;
        for (global_index x = first; x <= last; x = inside || x == last ? x + 1 : last) {
            // No other rank holds the ends of a non-periodic grid, if the blocks there have cells.
            const auto& starts = axis.starts;
            const bool end = staggered && (x == first || x == last) &&
                             (axis.periodic || ((x > 0 || starts[1] == 0) &&
                                                (x < axis.extent - 1 || *(starts.end() - 2) == x)));
            at[index(d)] = x;
            if (end || inside) visit(at, d + 1, border || end);
        }
    }

    // Rank that owns the point; on land, the first rank that holds it, or −1.
    int owner_of(const Coordinates& at, std::array<int, max_dimensions> position, int d) const {
        if (d == domain_.dimensions()) return points_.place_of(position).rank;
        const Axis& axis = points_.axis(d);
        const auto& starts = axis.starts;
        const global_index x = axis.periodic ? at[index(d)] % axis.extent : at[index(d)];
        int& block = position[index(d)];
        block = static_cast<int>(std::ranges::upper_bound(starts, x) - starts.begin()) - 1;
        int rank = owner_of(at, position, d + 1);
        if (rank >= 0 || domain_.wet_places().empty() || axis.stagger <= 0) return rank;
        const auto try_until = [&](int before, global_index end) {
            for (block = before; rank < 0 && block >= 0 && starts[index(block) + 1] == end; --block)
                rank = owner_of(at, position, d + 1);
        };
        try_until(block - 1, x);
        if (axis.periodic && x == 0) try_until(axis.blocks() - 1, axis.extent);
        return rank;
    }

    void add(const Coordinates& at) {
        global_index id = 0, place = 0;
        for (int d = 0; d < domain_.dimensions(); ++d) {
            const Axis& axis = points_.axis(d);
            const global_index x = axis.periodic ? at[index(d)] % axis.extent : at[index(d)];
            id = id * axis.extent + x;
            place += (at[index(d)] - box_.lo[index(d)]) * stride(d);
        }
        const bool owned = owner_of(at, {}, 0) == domain_.communicator().rank();
        auto number = static_cast<local_index>(place);
        if (several_) {
            numbered_.emplace_back(block_, number);
            number = static_cast<local_index>(numbered_.size() - 1);
        }
        const auto [known, is_new] = found_.try_emplace(id, Point{number, owned});
        if (!is_new) first.push_back(known->second.place), again.push_back(number);
    }

    const CartesianDomain& domain_;
    const PointLayout& layout_;
    CartesianDomain points_;
    bool several_;
    int block_ = 0;
    Box box_;
    local_index extent_ = 0;
    std::vector<std::pair<int, local_index>> numbered_;  // for several blocks: block and place
    std::map<global_index, Point> found_;
};

void renumber(std::vector<local_index>& points, const std::vector<local_index>& places) {
    for (local_index& point : points) point = places[point];
}

// Renumbers from the domain of shared points to places in an array of `extent` values, or numbers
// of as many points.
void renumber(SharedPoints& shared, const std::vector<local_index>& places, local_index extent) {
    const local_index slots = extent - shared.pattern.owned;
    for (Link& link : shared.pattern.stages[0]) {
        renumber(link.send.cells, places);
        for (local_index& slot : link.receive.cells) slot += slots;
    }
    shared.pattern.owned = extent;
    for (Holder& holder : shared.holders) {
        renumber(holder.points, places);
        if (holder.rank == shared.pattern.communicator.rank()) renumber(holder.from, places);
    }
    renumber(shared.points, places);
    renumber(shared.given, places);
}

}  // namespace

void require_points(const CartesianDomain& domain, const Field& field) {
    if (domain.stagger() != Stagger())
        throw Error(
            "the domain is one of points: pass the domain of cells, and fields that tell their "
            "stagger");
    const bool has_seams = !domain.seams().empty();
    const bool on_line = std::ranges::any_of(
        domain.seams(), [](const Seam& seam) { return seam.pivot == Pivot::center; });
    const bool apart = std::ranges::none_of(
        field.stagger.along, [&](int along) { return along > 0 || (along < 0 && has_seams); });
    if (apart && !on_line)
        throw Error("a field lives on cells, which one rank alone holds: tell its stagger");
}

PointLayout point_layout(const CartesianDomain& domain, const Field& field) {
    require_points(domain, field);
    if (field.indexed || field.blocks.size() != domain.blocks().size())
        throw Error("an array is not one of the grid's: view it with its domain", ErrorKind::type);
    require_stagger(field.stagger, domain.dimensions());
    require_on_host(field, true);
    PointLayout layout{field.stagger, {}};
    for (const BlockView& block : field.blocks) {
        if (block.first == nullptr)
            throw Error("an array is a null pointer: pass the array of the field");
        auto& strides = layout.strides.emplace_back();
        for (std::size_t d = 0; d < static_cast<std::size_t>(domain.dimensions()); ++d) {
            if (block.strides[d] <= 0 || block.strides[d] % unit_of(field) != 0)
                throw Error(
                    "an array runs backwards, or its values do not lie a whole number of values "
                    "apart: pass an array without gaps inside a "
                    "value");
            strides[d] = block.strides[d] / unit_of(field);
        }
    }
    return layout;
}

void append_values(const CartesianDomain& domain, const Field& field, int block,
                   std::vector<CellValues>& values) {
    const BlockView& array = field.blocks[block];
    std::byte* first = array.first;
    const Coordinates begin = first_of(domain, field, block);
    for (int d = 0; d < domain.dimensions(); ++d)
        first += (domain.owned(block).lo[d] - begin[d]) * array.strides[d];
    const byte_count unit = unit_of(field);
    if (!components_apart(field)) {
        values.push_back({{first, unit}, {first, unit}, field.element, field.components});
        return;
    }
    for (int c = 0; c < field.components; ++c) {
        std::byte* const component =
            first + c * field.stride_of_components(static_cast<std::size_t>(block));
        values.push_back({{component, unit}, {component, unit}, field.element});
    }
}

GridPoints find_grid_points(const CartesianDomain& domain, const PointLayout& layout) {
    return collectively(domain.communicator(), "the search for shared points", [&]() -> GridPoints {
        Finder finder(domain, layout);
        finder.collect();
        std::vector<local_index> places;
        SharedPoints shared = find_shared_points(finder.domain(places));
        renumber(shared, places, finder.numbers());
        auto blocks = finder.by_block(shared);
        return {std::move(shared), std::move(finder.first), std::move(finder.again),
                std::move(blocks)};
    });
}

}  // namespace parhelion
