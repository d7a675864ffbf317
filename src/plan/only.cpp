#include "parhelion/plan/only.hpp"

#include <algorithm>

#include "core/concat.hpp"
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
    if (fields[i] < 0 || fields[i] >= plan.field_count())
      refuse("there is no field ", fields[i], " in this exchange: it has fields 0 to ",
          plan.field_count() - 1);
    if (std::find(fields.begin(), fields.begin() + i, fields[i]) != fields.begin() + i)
      refuse("field ", fields[i], " is named twice: name each field once");
  }
}

// A seam takes the values of one component from another: both must be named.
void check_vectors(const Plan& plan, const ShortList<int, 16>& fields) {
  for (const int f : fields)
    for (int g = 0; g < plan.field_count(); ++g)
      if (plan.fields[f].vector != 0 && plan.fields[g].vector == plan.fields[f].vector &&
          plan.numbers[g].group == plan.numbers[f].group &&
          std::ranges::find(fields, g) == fields.end())
        refuse("field ", f, " without field ", g, ", the other component of its vector: name both");
}

void check_faces(const Plan& plan, const Only& only) {
  if (only.neighbors == Neighbors::full) return;
  for (const int f : only.fields) {
    const Pattern& pattern = plan.pattern_of(f);
    bool points = false;
    for (int d = 0; d < pattern.dimensions; ++d) points |= plan.fields[f].stagger.more(d) > 0;
    if (points || pattern.indexed())
      refuse("field ", f,
          (points ? " lives on points, of which those of the next block lie beyond "
                    "faces and corners at once: make an exchange of a domain with "
                    "Neighbors::faces"
                  : " is of an index map, which has no faces: name fields of grids"));
  }
}

// One depth for both sides may exceed the narrower one.
HaloWidth bounded(const HaloWidth& asked, const HaloWidth& most, int dimensions) {
  HaloWidth depth = 0;
  for (int d = 0; d < dimensions; ++d) {
    const int widest = std::max(most.lower[d], most.upper[d]);
    const auto bound = [&](int side, int here) {
      if (side == Only::as_made) return here;
      if (side < 0 || side > widest)
        refuse("a depth of ", side, " in dimension ", d,
            ", where the widest halo of these fields is ", widest,
            ": use 0 to that, or construct another exchange");
      return std::min(side, here);
    };
    depth.lower[d] = bound(asked.lower[d], most.lower[d]);
    depth.upper[d] = bound(asked.upper[d], most.upper[d]);
  }
  return depth;
}

bool in_order(const Plan& plan, const ShortList<int, 16>& fields) {
  int next = 0;
  return fields.size() == plan.fields.size() &&
         std::ranges::all_of(fields, [&](int f) { return f == next++; });
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
    plan.fields.push_back(whole.fields[f]);
    plan.fields.back().halo = narrower(whole.fields[f], only.depth);
    if (only.neighbors == Neighbors::faces) plan.fields.back().neighbors = only.neighbors;
    plan.depths.push_back(whole.depths[f]);
    plan.numbers.push_back(whole.numbers[f]);
    plan.group_of.push_back(whole.group_of[f]);
  }
  index_fields(plan);
  return plan;
}

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
  for (int f = 0; only.fields.empty() && f < plan.field_count(); ++f) full.fields.push_back(f);
  check_numbers(plan, full.fields);
  check_vectors(plan, full.fields);
  check_faces(plan, full);
  const int dimensions = dimensions_of(plan, full.fields);
  const HaloWidth as_made = Only::as_made;
  if (dimensions == 0 && !(only.depth == as_made))
    refuse("fields of index maps have no depth: leave it out, or name a field of a grid");
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
  for (std::size_t i = 0; i < numbers.size(); ++i) text += concat(i == 0 ? " " : ", ", numbers[i]);
  const int dimensions = dimensions_of(plan, resolved.fields);
  for (int d = 0; d < dimensions; ++d) {
    const int lower = resolved.depth.lower[d], upper = resolved.depth.upper[d];
    text += concat(d == 0 ? " to a depth of " : " × ", lower);
    if (upper != lower) text += concat("/", upper);
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
  compile_stages(plan);
  for (StagePlan& stage : plan.stages) std::erase_if(stage.links, moves_nothing);
  return plan;
}

}  // namespace parhelion
