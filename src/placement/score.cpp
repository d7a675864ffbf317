#include "parhelion/placement/score.hpp"

#include <algorithm>

namespace parhelion::placement {
namespace {

// Unit ids of the points of one plane (first coordinate fixed), for every level.
using Plane = std::vector<int>;

// The planes within reach of the current one, held in a ring; all planes where the reach spans them.
class Window {
public:
    Window(const ProcessGrid& grid, const Machine& machine, const PositionOf& position, int reach)
        : grid_(grid), machine_(machine), position_(position), reach_(reach),
          ring_(static_cast<std::size_t>(std::min(2 * reach + 1, grid.extent[0]))) {}

    int points() const { return grid_.size() / grid_.extent[0]; }

    /// Plane `i`, which may lie outside the grid along a periodic dimension; nullptr where there is none.
    const Plane* plane(int i) {
        if (!grid_.periodic[0] && (i < 0 || i >= grid_.extent[0])) return nullptr;
        const int n = grid_.extent[0], slots = static_cast<int>(ring_.size());
        if (slots == n) i = (i % n + n) % n;
        auto& slot = ring_[static_cast<std::size_t>((i + reach_) % slots)];
        if (slot.index != i || slot.units.empty()) slot = {i, fill(i)};
        return &slot.units;
    }

private:
    struct Slot {
        int index = 0;
        Plane units;
    };

    Plane fill(int i) const {
        const int n = grid_.extent[0], levels = machine_.levels();
        Plane units(static_cast<std::size_t>(points()) * static_cast<std::size_t>(levels));
        auto unit = units.begin();
        Coords point{(i % n + n) % n, 0, 0, 0};
        for (point[1] = 0; point[1] < grid_.extent[1]; ++point[1])
            for (point[2] = 0; point[2] < grid_.extent[2]; ++point[2])
                for (point[3] = 0; point[3] < grid_.extent[3]; ++point[3]) {
                    const int position = position_(point);
                    for (int l = 0; l < levels; ++l) *unit++ = machine_.unit_of(l, position);
                }
        return units;
    }

    const ProcessGrid& grid_;
    const Machine& machine_;
    const PositionOf& position_;
    int reach_;
    std::vector<Slot> ring_;
};

// Where each point of a plane finds its neighbor in the plane that an offset leads to; −1 where the grid ends.
std::vector<int> targets(const ProcessGrid& grid, const Coords& step) {
    const auto& n = grid.extent;
    std::array<std::vector<int>, max_dimensions> along;  // where each coordinate leads, by dimension
    for (int d = 1; d < max_dimensions; ++d)
        for (int x = 0; x < n[d]; ++x) {
            const int to = x + step[d];
            const bool inside = grid.periodic[d] || (to >= 0 && to < n[d]);
            along[d].push_back(inside ? (to % n[d] + n[d]) % n[d] : -1);
        }
    std::vector<int> found;
    found.reserve(static_cast<std::size_t>(grid.size() / n[0]));
    for (const int y : along[1])
        for (const int z : along[2])
            for (const int t : along[3]) found.push_back(y < 0 || z < 0 || t < 0 ? -1 : (y * n[2] + z) * n[3] + t);
    return found;
}

struct Leaving {
    std::int64_t edges = 0, bytes = 0, sent = 0;
};

class Counters {
public:
    explicit Counters(const Machine& machine) : outermost_(static_cast<std::size_t>(machine.levels()) + 1) {
        for (int l = 0; l < machine.levels(); ++l) leaving_.emplace_back(static_cast<std::size_t>(machine.units(l)));
    }

    /// An edge between points with these units: once they differ at a level, they differ at all levels inside it.
    void add(const int* from, const int* to, std::int64_t bytes) {
        std::size_t l = 0;
        while (l < leaving_.size() && from[l] == to[l]) ++l;
        ++outermost_[l].edges, outermost_[l].bytes += bytes;
    }

    /// After all edges of a point with these units.
    void close(const int* from) {
        Leaving sum;
        std::int64_t sent = 0;
        for (const auto& edges : outermost_) sent += edges.bytes;
        for (std::size_t l = 0; l < leaving_.size(); ++l) {
            sum.edges += outermost_[l].edges, sum.bytes += outermost_[l].bytes;
            auto& unit = leaving_[l][static_cast<std::size_t>(from[l])];
            unit.edges += sum.edges, unit.bytes += sum.bytes, unit.sent += sent;
        }
        std::ranges::fill(outermost_, Leaving{});
    }

    Scores total() const {
        Scores scores;
        for (const auto& level : leaving_) {
            LevelScore score;
            for (const auto& unit : level) {
                score.edges_sum += unit.edges, score.edges_max = std::max(score.edges_max, unit.edges);
                score.bytes_sum += unit.bytes, score.bytes_max = std::max(score.bytes_max, unit.bytes);
                score.sent_max = std::max(score.sent_max, unit.sent);
            }
            scores.push_back(score);
        }
        return scores;
    }

private:
    std::vector<std::vector<Leaving>> leaving_;
    std::vector<Leaving> outermost_;  ///< edges of the current point by the outermost level that they leave
};

// One offset, as seen from the current plane: the plane it leads to and the points there.
struct Step {
    const Plane* there;
    const std::vector<int>* to;
    std::int64_t bytes;
};

}  // namespace

Scores score(const ProcessGrid& grid, const Stencil& stencil, const Machine& machine, const PositionOf& position) {
    Window window(grid, machine, position, stencil.reach(0));
    Counters counters(machine);
    std::vector<std::vector<int>> to;
    for (const auto& offset : stencil.offsets) to.push_back(targets(grid, offset.step));
    const auto levels = static_cast<std::size_t>(machine.levels());
    for (int i = 0; i < grid.extent[0]; ++i) {
        std::vector<Step> steps;
        for (std::size_t o = 0; o < to.size(); ++o)
            if (const Plane* there = window.plane(i + stencil.offsets[o].step[0]))
                steps.push_back({there, &to[o], stencil.offsets[o].bytes});
        const Plane& here = *window.plane(i);
        for (std::size_t p = 0; p < static_cast<std::size_t>(window.points()); ++p) {
            for (const auto& step : steps)
                if (const int target = (*step.to)[p]; target >= 0)
                    counters.add(&here[p * levels], &(*step.there)[static_cast<std::size_t>(target) * levels], step.bytes);
            counters.close(&here[p * levels]);
        }
    }
    return counters.total();
}

}  // namespace parhelion::placement
