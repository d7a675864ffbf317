#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace parhelion::placement {

UnitKinds::UnitKinds(const Machine& machine) : levels_(machine.levels()) {
    std::vector<int> kind_of_shape, nodes;
    for (const auto& shape : machine.shapes()) kind_of_shape.push_back(intern_unit(shape, 0, 0, shape.ranks));
    for (int node = 0; node < machine.nodes(); ++node) nodes.push_back(kind_of_shape[static_cast<std::size_t>(machine.shape_id(node))]);
    intern(-1, machine.size(), nodes);
}

int UnitKinds::intern_unit(const NodeShape& shape, int level, int first, int last) {
    std::vector<int> parts;
    if (level + 1 < levels_) {
        const auto& starts = shape.starts[static_cast<std::size_t>(level)];
        for (std::size_t u = 0; u + 1 < starts.size(); ++u)
            if (starts[u] >= first && starts[u + 1] <= last && starts[u] < starts[u + 1])
                parts.push_back(intern_unit(shape, level + 1, starts[u], starts[u + 1]));
    }
    return intern(level, last - first, std::move(parts));
}

int UnitKinds::intern(int level, int ranks, std::vector<int> parts) {
    const auto same = [&](const UnitKind& k) { return k.level == level && k.ranks == ranks && k.parts == parts; };
    if (const auto known = std::ranges::find_if(kinds_, same); known != kinds_.end()) return static_cast<int>(known - kinds_.begin());
    UnitKind kind{level, ranks, std::move(parts), {0}, true};
    for (const int part : kind.parts) {
        kind.starts.push_back(kind.starts.back() + kinds_[static_cast<std::size_t>(part)].ranks);
        kind.equal_parts = kind.equal_parts && part == kind.parts.front();
    }
    kinds_.push_back(std::move(kind));
    return static_cast<int>(kinds_.size()) - 1;
}

Share Problem::normal(Share share) const {
    while (share.count == 1) {
        const int part = kinds[share.kind].parts[static_cast<std::size_t>(share.first)];
        share = {part, 0, kinds[part].count()};
    }
    if (share.count > 0 && kinds[share.kind].equal_parts) share.first = 0;
    return share;
}

namespace {

// Points i with i and i + step on different sides of the cut, in a line of n points.
std::int64_t crossings(int n, int cut, int step, bool wraps) {
    if (wraps) {
        const int shift = (step % n + n) % n;
        return 2 * std::min({shift, n - shift, cut, n - cut});
    }
    const int reach = std::abs(step);
    return std::max(0, std::min(cut, n - reach) - std::max(0, cut - reach));
}

}  // namespace

std::int64_t Problem::cut(const Coords& box, int d, int thickness) const {
    std::int64_t bytes = 0;
    for (const auto& offset : stencil.offsets) {
        std::int64_t edges = crossings(box[d], thickness, offset.step[d], wraps(box, d));
        for (int j = 0; j < max_dimensions && edges > 0; ++j)
            if (j != d) edges *= wraps(box, j) ? box[j] : std::max(0, box[j] - std::abs(offset.step[j]));
        bytes += edges * offset.bytes;
    }
    return bytes;
}

std::array<double, max_dimensions> Problem::cut_weight() const {
    std::array<double, max_dimensions> weight{};
    for (const auto& offset : stencil.offsets)
        for (int d = 0; d < max_dimensions; ++d) weight[d] += static_cast<double>(offset.bytes) * std::abs(offset.step[d]);
    for (auto& w : weight) w = std::max(w, 1e-6);
    return weight;
}

// The surface Σ_d weight_d · ranks / b_d under Π b_d = ranks is least where b_d is proportional to weight_d; a
// dimension in which that exceeds the box is filled, and the rest shares what remains.
std::array<double, max_dimensions> ideal_block(const Problem& problem, const Coords& box, double ranks) {
    const auto weight = problem.cut_weight();
    std::array<double, max_dimensions> block{1, 1, 1, 1};
    std::vector<int> open;
    for (int d = 0; d < problem.grid.dimensions; ++d) open.push_back(d);
    while (!open.empty()) {
        double product = 1;
        for (const int d : open) product *= weight[d];
        const double scale = std::pow(ranks / product, 1.0 / static_cast<double>(open.size()));
        const auto too_long = [&](int d) { return weight[d] * scale >= box[d]; };
        const auto over = std::ranges::find_if(open, too_long);
        if (over == open.end()) {
            for (const int d : open) block[d] = std::max(1.0, weight[d] * scale);
            break;
        }
        block[*over] = box[*over];
        ranks /= box[*over];
        open.erase(over);
    }
    return block;
}

}  // namespace parhelion::placement
