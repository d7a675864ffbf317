#include "parhelion/plan/only.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"
#include "plan/compile.hpp"

namespace parhelion {
namespace {

int dimensions_of(const Plan& plan, const ShortList<int, 16>& fields) {
    int most = 0;
    for (const int f : fields) most = std::max(most, plan.pattern_of(f).dimensions);
    return most;
}

HaloWidth widest(const Plan& plan, const ShortList<int, 16>& fields) {
    HaloWidth most = 0;
    for (const int f : fields)
        for (int d = 0; d < plan.pattern_of(f).dimensions; ++d) {
            const HaloWidth& halo = plan.fields[f].halo;
            most.lower[d] = std::max(most.lower[d], halo.lower[d]);
            most.upper[d] = std::max(most.upper[d], halo.upper[d] - plan.fields[f].stagger.more(d));
        }
    return most;
}

void check_numbers(const Plan& plan, const ShortList<int, 16>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i] < 0 || static_cast<std::size_t>(fields[i]) >= plan.fields.size())
            throw Error("there is no field " + std::to_string(fields[i]) +
                        " in this exchange: it has fields 0 to " +
                        std::to_string(plan.fields.size() - 1));
        if (std::find(fields.begin(), fields.begin() + i, fields[i]) != fields.begin() + i)
            throw Error("field " + std::to_string(fields[i]) +
                        " is named twice: name each field once");
    }
}

// A seam takes the values of one component from another: both must be named.
void check_vectors(const Plan& plan, const ShortList<int, 16>& fields) {
    for (const int f : fields)
        for (std::size_t g = 0; g < plan.fields.size(); ++g)
            if (plan.fields[f].vector != 0 && plan.fields[g].vector == plan.fields[f].vector &&
                plan.numbers[g].group == plan.numbers[f].group &&
                std::find(fields.begin(), fields.end(), static_cast<int>(g)) == fields.end())
                throw Error("field " + std::to_string(f) + " without field " + std::to_string(g) +
                            ", the other component of its vector: name both");
}

void check_faces(const Plan& plan, const Only& only) {
    if (only.neighbors == Neighbors::full) return;
    for (const int f : only.fields) {
        const Pattern& pattern = plan.pattern_of(f);
        bool points = false;
        for (int d = 0; d < pattern.dimensions; ++d) points |= plan.fields[f].stagger.more(d) > 0;
        if (points || pattern.indexed())
            throw Error("field " + std::to_string(f) +
                        (points ? " lives on points, of which those of the next block lie beyond "
                                  "faces and corners at once: make an exchange of a domain with "
                                  "Neighbors::faces"
                                : " is of an index map, which has no faces: name fields of grids"));
    }
}

// Depth of one side. One depth for both sides may exceed the narrower one.
int bounded(int asked, int here, int other_side, int d) {
    if (asked == Only::as_made) return here;
    if (asked < 0 || asked > std::max(here, other_side))
        throw Error("a depth of " + std::to_string(asked) + " in dimension " + std::to_string(d) +
                    ", where the widest halo of these fields is " +
                    std::to_string(std::max(here, other_side)) +
                    ": name 0 to that, or make another exchange");
    return std::min(asked, here);
}

HaloWidth bounded(const HaloWidth& asked, const HaloWidth& most, int dimensions) {
    HaloWidth depth = 0;
    for (int d = 0; d < dimensions; ++d) {
        depth.lower[d] = bounded(asked.lower[d], most.lower[d], most.upper[d], d);
        depth.upper[d] = bounded(asked.upper[d], most.upper[d], most.lower[d], d);
    }
    return depth;
}

bool in_order(const Plan& plan, const ShortList<int, 16>& fields) {
    int next = 0;
    return fields.size() == plan.fields.size() &&
           std::all_of(fields.begin(), fields.end(), [&](int f) { return f == next++; });
}

// The shared point that the next block owns is not a layer of the depth.
HaloWidth narrower(const Field& field, const HaloWidth& depth) {
    HaloWidth width = field.halo;
    for (std::size_t d = 0; d < width.lower.size(); ++d) {
        width.lower[d] = std::min(width.lower[d], depth.lower[d]);
        width.upper[d] = std::min(width.upper[d], depth.upper[d] + field.stagger.more(d));
    }
    return width;
}

Plan without_stages(const Plan& whole, const Only& only) {
    Plan plan;
    plan.patterns = whole.patterns;
    plan.reaches = whole.reaches;
    plan.several = whole.several;
    plan.executor = whole.executor;
    for (const int f : only.fields) {
        const auto i = static_cast<std::size_t>(f);
        plan.fields.push_back(whole.fields[i]);
        plan.fields.back().halo = narrower(whole.fields[i], only.depth);
        if (only.neighbors == Neighbors::faces) plan.fields.back().neighbors = only.neighbors;
        plan.depths.push_back(whole.depths[i]);
        plan.numbers.push_back(whole.numbers[i]);
        plan.group_of.push_back(whole.group_of[i]);
    }
    index_fields(plan);
    return plan;
}

// Neighbors and their packing orders.
StagePlan without_programs(const StagePlan& whole, const Only& only) {
    StagePlan stage;
    for (const LinkPlan& link : whole.links) {
        LinkPlan& mine = stage.links.emplace_back(
            LinkPlan{link.rank, link.links, {}, {}, {}, link.small, {}, link.record});
        for (const int f : only.fields) mine.orders.push_back(link.orders[f]);
    }
    if (whole.self) stage.self = SelfPlan{whole.self->links, {}, {}, {}};
    return stage;
}

bool moves_nothing(const LinkPlan& link) {
    return link.forward.send_bytes + link.forward.receive_bytes + link.reverse.send_bytes +
               link.reverse.receive_bytes ==
           0;
}

}  // namespace

Only resolve(const Plan& plan, const Only& only) {
    Only full;
    full.fields = only.fields, full.neighbors = only.neighbors;
    for (int f = 0; only.fields.empty() && f < static_cast<int>(plan.fields.size()); ++f)
        full.fields.push_back(f);
    check_numbers(plan, full.fields);
    check_vectors(plan, full.fields);
    check_faces(plan, full);
    const int dimensions = dimensions_of(plan, full.fields);
    const HaloWidth as_made = Only::as_made;
    if (dimensions == 0 && !(only.depth == as_made))
        throw Error("fields of index maps have no depth: leave it out, or name a field of a grid");
    if (dimensions > 0) require_dimensions(only.depth.listed, dimensions, "the depth");
    full.depth = bounded(only.depth, widest(plan, full.fields), dimensions);
    return full;
}

bool is_all(const Plan& plan, const Only& resolved) {
    return in_order(plan, resolved.fields) && resolved.depth == widest(plan, resolved.fields) &&
           resolved.neighbors == Neighbors::full;
}

std::string to_string(const Plan& plan, const Only& resolved, const std::vector<int>& numbers) {
    std::string text = numbers.size() == 1 ? "field" : "fields";
    for (std::size_t i = 0; i < numbers.size(); ++i)
        text.append(i == 0 ? " " : ", ").append(std::to_string(numbers[i]));
    const int dimensions = dimensions_of(plan, resolved.fields);
    for (int d = 0; d < dimensions; ++d) {
        const int lower = resolved.depth.lower[d], upper = resolved.depth.upper[d];
        text.append(d == 0 ? " to a depth of " : " × ").append(std::to_string(lower));
        if (upper != lower) text.append("/").append(std::to_string(upper));
    }
    const auto has_faces = [&](int f) { return plan.fields[f].neighbors == Neighbors::faces; };
    if (resolved.neighbors == Neighbors::faces || std::ranges::any_of(resolved.fields, has_faces))
        text += " across faces";
    return text;
}

Plan plan_of(const Plan& whole, const Only& resolved) {
    Plan plan = without_stages(whole, resolved);
    for (const StagePlan& stage : whole.stages)
        plan.stages.push_back(without_programs(stage, resolved));
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
        compile_stage(plan, s);
        std::erase_if(plan.stages[s].links, moves_nothing);
    }
    return plan;
}

}  // namespace parhelion
