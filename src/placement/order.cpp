#include "parhelion/placement/order.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "parhelion/core/error.hpp"

namespace parhelion::placement {

/// One vertex: a path through its box, or slabs along a dimension.
struct Order::Vertex {
    struct Run {
        int count, thickness;
        int first;           ///< coordinate along `dimension` where the run starts
        int first_position;  ///< position where it starts
        Mirror mirror, alternate;
        std::shared_ptr<const Vertex> slab;
    };

    Coords box{1, 1, 1, 1};
    int size = 1;
    int dimension = -1;  ///< of the slabs; −1: a path
    std::array<std::int8_t, max_dimensions> fastest_first{};
    bool to_and_fro = false;
    std::vector<Run> runs;
};

namespace {

Coords mirrored(Coords point, const Coords& box, Order::Mirror mirror) {
    for (int d = 0; d < max_dimensions; ++d)
        if (mirror >> d & 1) point[d] = box[d] - 1 - point[d];
    return point;
}

// From the slowest dimension to the fastest; a dimension runs backwards when the number of passes through it
// so far, that is the rank of the slower ones, is odd.
template <class Vertex>
int path_position(const Vertex& v, const Coords& point) {
    int position = 0;
    for (int i = max_dimensions - 1; i >= 0; --i) {
        const int d = v.fastest_first[i];
        const bool backwards = v.to_and_fro && position % 2 == 1;
        position = position * v.box[d] + (backwards ? v.box[d] - 1 - point[d] : point[d]);
    }
    return position;
}

template <class Vertex>
Coords path_point(const Vertex& v, int position) {
    Coords point{};
    for (int i = 0; i < max_dimensions; ++i) {
        const int d = v.fastest_first[i];
        const int along = position % v.box[d];
        position /= v.box[d];
        point[d] = v.to_and_fro && position % 2 == 1 ? v.box[d] - 1 - along : along;
    }
    return point;
}

template <class Run>
bool same_slabs(const Run& a, const Run& b) {
    return a.slab == b.slab && (a.mirror | a.alternate | b.mirror | b.alternate) == 0;
}

template <class Run>
Order::Mirror mirror_of(const Run& run, int slab) {
    return static_cast<Order::Mirror>(run.mirror ^ (slab % 2 == 1 ? run.alternate : 0));
}

}  // namespace

Order Order::path(const Coords& box, const std::vector<int>& fastest_first, bool to_and_fro) {
    auto v = std::make_shared<Vertex>();
    v->box = box;
    v->size = volume(box);
    v->to_and_fro = to_and_fro;
    std::size_t n = 0;
    for (const int d : fastest_first) v->fastest_first[n++] = static_cast<std::int8_t>(d);
    for (int d = max_dimensions - 1; d >= 0; --d)
        if (std::ranges::find(fastest_first, d) == fastest_first.end()) v->fastest_first[n++] = static_cast<std::int8_t>(d);
    return Order(std::move(v));
}

Order Order::slabs(int dimension, const std::vector<Part>& parts) {
    auto v = std::make_shared<Vertex>();
    v->dimension = dimension;
    v->size = 0;
    int along = 0;
    const auto append = [&](Vertex::Run run) {
        run.first = along, run.first_position = v->size;
        along += run.count * run.thickness;
        v->size += run.count * run.slab->size;
        // A row of equal slabs is one run, however it was put together.
        if (!v->runs.empty() && same_slabs(v->runs.back(), run)) v->runs.back().count += run.count;
        else v->runs.push_back(std::move(run));
    };
    for (const auto& part : parts) {
        const auto& slab = part.order.root_;
        v->box = slab->box;
        // Slabs along the same dimension are taken in, so that a row of cuts does not become a deep tree.
        if (slab->dimension == dimension && part.count == 1 && part.mirror == 0)
            for (const auto& run : slab->runs) append(run);
        else append({part.count, slab->box[dimension], 0, 0, part.mirror, part.alternate, slab});
    }
    v->box[dimension] = along;
    return Order(std::move(v));
}

const Coords& Order::box() const { return root_->box; }
int Order::size() const { return root_->size; }

int Order::position(Coords point) const {
    const Vertex* v = root_.get();
    int position = 0;
    while (v->dimension >= 0) {
        const int d = v->dimension;
        auto run = std::ranges::upper_bound(v->runs, point[d], {}, &Vertex::Run::first);
        --run;
        const int slab = (point[d] - run->first) / run->thickness;
        position += run->first_position + slab * run->slab->size;
        point[d] -= run->first + slab * run->thickness;
        point = mirrored(point, run->slab->box, mirror_of(*run, slab));
        v = run->slab.get();
    }
    return position + path_position(*v, point);
}

Coords Order::point(int position) const {
    struct Step {
        const Vertex::Run* run;
        int slab, dimension;
    };
    std::vector<Step> way;
    const Vertex* v = root_.get();
    while (v->dimension >= 0) {
        auto run = std::ranges::upper_bound(v->runs, position, {}, &Vertex::Run::first_position);
        --run;
        position -= run->first_position;
        const int slab = position / run->slab->size;
        position -= slab * run->slab->size;
        way.push_back({&*run, slab, v->dimension});
        v = run->slab.get();
    }
    Coords point = path_point(*v, position);
    for (auto step = way.rbegin(); step != way.rend(); ++step) {
        point = mirrored(point, step->run->slab->box, mirror_of(*step->run, step->slab));
        point[step->dimension] += step->run->first + step->slab * step->run->thickness;
    }
    return point;
}

int Order::vertices() const {
    std::map<const Vertex*, bool> seen;
    const auto visit = [&](const auto& self, const Vertex* v) -> void {
        if (!seen.emplace(v, true).second) return;
        for (const auto& run : v->runs) self(self, run.slab.get());
    };
    visit(visit, root_.get());
    return static_cast<int>(seen.size());
}

// Vertices in post-order: box, then either −1 and the path, or the dimension, the number of runs and the runs.
std::vector<std::int32_t> Order::pack() const {
    std::vector<std::int32_t> words;
    std::unordered_map<const Vertex*, std::int32_t> index;
    const auto visit = [&](const auto& self, const Vertex* v) -> void {
        if (index.contains(v)) return;
        for (const auto& run : v->runs) self(self, run.slab.get());
        words.insert(words.end(), v->box.begin(), v->box.end());
        words.push_back(v->dimension);
        if (v->dimension < 0) {
            words.insert(words.end(), v->fastest_first.begin(), v->fastest_first.end());
            words.push_back(v->to_and_fro);
        } else {
            words.push_back(static_cast<std::int32_t>(v->runs.size()));
            for (const auto& run : v->runs) words.insert(words.end(), {run.count, run.mirror, run.alternate, index.at(run.slab.get())});
        }
        index.emplace(v, static_cast<std::int32_t>(index.size()));
    };
    visit(visit, root_.get());
    return words;
}

Order Order::unpack(std::span<const std::int32_t> words) {
    std::vector<Order> made;
    std::size_t at = 0;
    const auto next = [&] {
        if (at >= words.size()) throw Error("a packed order ends too early: it was cut off on its way");
        return words[at++];
    };
    while (at < words.size()) {
        Coords box;
        for (auto& extent : box) extent = next();
        const int dimension = next();
        if (dimension < 0) {
            std::vector<int> fastest_first(max_dimensions);
            for (auto& d : fastest_first) d = next();
            made.push_back(path(box, fastest_first, next() != 0));
            continue;
        }
        std::vector<Part> parts;
        for (int n = next(); n > 0; --n) {
            const int count = next();
            const auto mirror = static_cast<Mirror>(next()), alternate = static_cast<Mirror>(next());
            parts.push_back({count, made.at(static_cast<std::size_t>(next())), mirror, alternate});
        }
        made.push_back(slabs(dimension, parts));
    }
    if (made.empty()) throw Error("a packed order is empty: nothing was sent");
    return made.back();
}

}  // namespace parhelion::placement
