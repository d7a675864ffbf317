#include "parhelion/plan/plan.hpp"

#include <algorithm>
#include <map>

#include "core/concat.hpp"
#include "parhelion/core/checked.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/sparse_exchange.hpp"
#include "parhelion/plan/executor.hpp"
#include "pattern/by_dimensions.hpp"
#include "pattern/words.hpp"
#include "plan/array_block.hpp"
#include "plan/compile.hpp"
#include "plan/device/driver.hpp"
#include "plan/kernels.hpp"
#include "plan/overlap.hpp"

namespace parhelion {
namespace {

void check_depth(const Pattern& pattern, const Field& field, const std::string& name, int d) {
  const std::string where = " in dimension " + std::to_string(d);
  const auto check = [&](int width, int most, int around) {
    if (around < as_domain) refuse(name, " has a negative array halo", where);
    if (width < 0) refuse(name, " has a negative halo width", where);
    if (width > most)
      refuse(name, " has a halo of ", width, where, ", but the pattern has one of ", most,
          ": build the pattern from a domain with the widest halo that any field needs, or "
          "give the field a smaller depth");
    if (around != as_domain && width > around)
      refuse(name, " has a depth of ", width, where, ", but its array has a halo of ", around,
          ": make the array's halo (array_halo) at least as wide as the depth "
          "that is exchanged");
  };
  check(field.halo.lower[d], pattern.halo.lower[d], field.array_halo.lower[d]);
  check(field.halo.upper[d], pattern.halo.upper[d] - pattern.stagger.more(d),
      field.array_halo.upper[d]);
}

bool has_ends(const Pattern& pattern, const Field& field) {
  return equal_halo(pattern.ends, field.boundary == Boundary::owned ? field.halo : HaloWidth(0),
      pattern.dimensions);
}

bool fits(const Pattern& pattern, const Field& field) {
  return pattern.indexed() || (pattern.stagger == field.stagger && has_ends(pattern, field));
}

// The first that fits, else 0, whose check reports the mismatch.
std::size_t pattern_number(const Group& group, const Field& field) {
  const auto own =
      std::ranges::find_if(group.patterns, [&](const Pattern& each) { return fits(each, field); });
  return own == group.patterns.end() ? 0 : static_cast<std::size_t>(own - group.patterns.begin());
}

void check_sign(const Field& field, const std::string& name) {
  if (field.sign != 1 && field.sign != -1)
    refuse(name,
        " has a sign that is neither 1 nor −1: scalars keep theirs beyond a "
        "fold (1), components of a vector change it (−1)");
  if (field.sign < 0 &&
      (field.element.scalar == Scalar::bytes || field.element.size > largest_signed_element))
    throw Error(name + " has elements of type " + to_string(field.element) +
                    ", which have no sign: leave the sign out, or view the array as numbers",
        ErrorKind::type);
}

void check_component(const Field& field, int dimensions, const std::string& name) {
  if (field.vector == 0) return;
  if (field.vector < 0 || field.along < 0 || field.along >= dimensions)
    refuse(name, " is component ", field.along, " of vector ", field.vector,
        ": vectors have numbers from 1 to ", largest_vector,
        ", and components lie along an axis of the grid");
  if (field.sign != 1)
    refuse(name,
        " is a component of a vector and has a sign too: leave the sign out, which "
        "follows from the seam");
}

// A seam that exchanges axes takes values from another component, with points turned likewise.
void check_turned(
    const Group& group, const Field& field, const SeamTurn& turn, const std::string& name) {
  if (field.sign < 0 && turn.sign == 0)
    refuse(name,
        " changes its sign, but seams of the domain turn axes, or mirror different ones: pass the "
        "components of a vector as such (vector), each along its axis");
  if (!turn.exchanges_axes()) return;
  const Field* source = &field;
  if (field.vector != 0) {
    const auto found = std::ranges::find_if(group.fields, [&](const Field& each) {
      return each.vector == field.vector && each.along == turn.axes[field.along];
    });
    if (found == group.fields.end())
      refuse(name, " is a component of a vector which seams turn to axis ", turn.axes[field.along],
          ", and no field is its component along that axis: pass all of them");
    source = &*found;
    if (std::ranges::any_of(group.fields, [&](const Field& each) {
          return &each != &field && each.vector == field.vector && each.along == field.along;
        }))
      refuse(name, " and another field are the same component of vector ", field.vector,
          ": number each vector differently");
  }
  bool fits = source->element == field.element && source->components == field.components;
  for (std::size_t d = 0; d < turn.axes.size(); ++d)
    fits = fits && source->stagger.along[turn.axes[d]] == field.stagger.along[d];
  if (!fits)
    refuse(name, (field.vector != 0
                         ? " and the other component of its vector do not fit a seam that turns "
                           "axes: give both the same element, and each points along its own axis, "
                           "or none, or all"
                         : " lives on points that a seam turns into others: pass it as a component "
                           "of a vector, or on cells or vertices"));
}

void check_turns(
    const Group& group, const Pattern& pattern, const Field& field, const std::string& name) {
  check_component(field, pattern.dimensions, name);
  for (const Stage& stage : pattern.stages)
    for (const Link& link : stage)
      for (const BoxPiece& piece : link.receive.boxes) check_turned(group, field, piece.turn, name);
}

void check_points(const Pattern& pattern, const Field& field, const std::string& name) {
  try {
    require_stagger(field.stagger, pattern.dimensions);
  } catch (const Error& error) {
    refuse(name, " has ", error.what());
  }
  if (field.stagger != pattern.stagger)
    refuse(name,
        " differs in stagger from the pattern, which defines the owners of points: pass "
        "the domain instead of its pattern, or "
        "build the pattern from domain.staggered(…)");
  if (!has_ends(pattern, field))
    refuse(name,
        " and the pattern differ in the layers beyond the ends that ranks own "
        "(boundary): pass the domain instead of its "
        "pattern, or build the pattern for the field's depth");
}

constexpr byte_count largest_cell = byte_count{1} << 30;

std::string named(std::size_t number, std::size_t group, bool several) {
  return concat("field ", number, (several ? " of group " + std::to_string(group) : ""));
}

void check_field(const Pattern& pattern, const Field& field, const std::string& number) {
  const std::string name = number + " (" + to_string(field) + ")";
  if (field.element.size < 1)
    throw Error(
        name + " has elements of no size: use element_of<T>() or parse_element", ErrorKind::type);
  if (field.element.scalar != Scalar::bytes && to_string(field.element).starts_with("bytes"))
    throw Error(concat(name, " has elements of ", field.element.size,
                    " bytes, which its type does not have: "
                    "use element_of<T>() or parse_element"),
        ErrorKind::type);
  if (field.components < 1) refuse(name, " needs at least 1 component");
  if (bytes_per_cell(field) > largest_cell)
    refuse(name, " has cells of more than 1 GiB: use more cells or fields");
  if (field.indexed != pattern.indexed())
    throw Error(name +
                    (field.indexed ? " is indexed and the pattern Cartesian"
                                   : " is Cartesian and the pattern indexed") +
                    std::string(": view the array with the domain that the pattern was built from"),
        ErrorKind::type);
  const std::size_t blocks = pattern.indexed() ? 2 : pattern.blocks.size();
  if (field.blocks.size() != blocks)
    refuse(name, " has ", field.blocks.size(), " blocks, but the pattern has ", blocks);
  for (int d = 0; d < pattern.dimensions; ++d) check_depth(pattern, field, name, d);
  check_sign(field, name);
  if (!pattern.indexed()) check_points(pattern, field, name);
  for (const Box& block : pattern.blocks)
    checked_product({grow(block, field.halo, pattern.dimensions).cells(), bytes_per_cell(field)},
        "the size of a field");
  for (std::size_t b = 0; b < blocks; ++b)
    if (field.blocks[b].first == nullptr && cells_of(pattern, b) > 0)
      refuse(name, " is a null pointer: allocate it before the exchange is constructed");
}

void check_communicators(const std::vector<Group>& groups) {
  for (std::size_t g = 1; g < groups.size(); ++g)
    if (!groups[g].patterns.front().communicator.is(groups[0].patterns.front().communicator))
      refuse("the pattern of group ", g,
          " is on another communicator than group 0: build the "
          "domains of one exchange on one communicator");
}

// Views made before the driver was loaded say "host".
void find_spaces(std::vector<Group>& groups) {
  if (device::find_driver() == nullptr) return;
  for (Group& group : groups)
    for (Field& field : group.fields)
      for (const BlockView& block : field.blocks)
        if (device_of(block.first) >= 0) field.space = MemorySpace::device;
}

// One executor runs all copies.
void check_spaces(const std::vector<Group>& groups) {
  const Field* first = nullptr;
  for (const Group& group : groups)
    for (const Field& field : group.fields) {
      if (first == nullptr) first = &field, make_executor(field.space);
      if (field.space != first->space)
        refuse("an exchange of fields in ", to_string(first->space), " and in ",
            to_string(field.space), " memory: make one for each");
    }
}

void check_groups(const std::vector<Group>& groups) {
  check_communicators(groups);
  check_spaces(groups);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t f = 0; f < groups[g].fields.size(); ++f) {
      const Field& field = groups[g].fields[f];
      const Pattern& pattern = groups[g].patterns[pattern_number(groups[g], field)];
      const std::string name = named(f, g, groups.size() > 1);
      check_field(pattern, field, name);
      check_turns(groups[g], pattern, field, name);
    }
}

// Strides may differ between ranks: neighbors send each other their packing orders.
void tell_field(Properties& told, const Field& field, const std::string& name, int dimensions) {
  told.add("the element of " + name, to_string(field.element));
  told.add("the number of components of " + name, field.components);
  told.add("the sign of " + name + " beyond a seam", field.sign);
  told.add("the number of the vector of " + name, field.vector);
  told.add("the axis of component " + name, field.along);
  told.add("the memory space of " + name, to_string(field.space));
  for (int d = 0; d < dimensions; ++d) {
    told.add("the stagger of " + name + " in dimension %", field.stagger.along[d], {d});
    told.add("the lower halo width of " + name + " in dimension %", field.halo.lower[d], {d});
    told.add("the upper halo width of " + name + " in dimension %", field.halo.upper[d], {d});
  }
}

void tell_group(Properties& told, const Group& group, std::size_t number, bool several) {
  const std::string of_group = several ? " of group " + std::to_string(number) : "";
  const Pattern& first = group.patterns.front();
  told.add("the number of dimensions of the domain" + of_group + " (0: indexed)", first.dimensions);
  told.add("the number of the pattern's stages" + of_group, first.stages.size());
  told.add("the number of fields" + of_group, group.fields.size());
  for (std::size_t f = 0; f < group.fields.size(); ++f)
    tell_field(told, group.fields[f], named(f, number, several), first.dimensions);
  told.add("the number of patterns" + of_group, group.patterns.size());
}

void tell_all(Properties& told, const std::vector<Group>& groups, const TellProperties& options) {
  told.add("the number of groups", groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) tell_group(told, groups[g], g, groups.size() > 1);
  if (options) options(told);
}

void add_field(Plan& plan, Field field, std::size_t pattern, Plan::Number number) {
  plan.depths.push_back(field.halo);
  field.neighbors = Neighbors::full;
  for (int d = 0; d < max_dimensions; ++d) field.halo.upper[d] += field.stagger.more(d);
  plan.fields.push_back(std::move(field));
  plan.numbers.push_back(number);
  plan.group_of.push_back(static_cast<int>(pattern));
}

// Any array on this rank's device, else null.
const std::byte* array_of(const Plan& plan) {
  const std::byte* found = nullptr;
  if (plan.space() != MemorySpace::device) return found;
  for_blocks(plan, [&](int f, int b) {
    const ArrayBlock block = array_block(plan, f, b);
    if (block.empty()) return;
    if (found == nullptr) found = block.begin;
    if (device_of(block.begin) != device_of(found))
      refuse(field_name(plan, f), " is ", place_text(block.begin), " and another array ",
          place_text(found), ": construct an exchange for each, or move them to one device");
  });
  return found;
}

Plan without_stages(std::vector<Group> groups, int threads) {
  Plan plan;
  plan.several = groups.size() > 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    const auto first = plan.patterns.size();
    for (std::size_t f = 0; f < group.fields.size(); ++f)
      add_field(plan, group.fields[f], first + pattern_number(group, group.fields[f]),
          {static_cast<int>(g), static_cast<int>(f)});
    for (Pattern& pattern : group.patterns) {
      plan.reaches.push_back(reaches_of(pattern));
      plan.patterns.push_back(std::make_shared<const Pattern>(std::move(pattern)));
    }
  }
  index_fields(plan);
  plan.executor = make_executor(plan.space(), threads, array_of(plan));
  return plan;
}

// Stage `number` of each pattern, by rank.
StagePlan merged_stage(const Plan& plan, std::size_t number) {
  std::map<int, Links> by_rank;
  for (std::size_t g = 0; g < plan.patterns.size(); ++g) {
    if (number >= plan.patterns[g]->stages.size()) continue;
    for (const Link& link : plan.patterns[g]->stages[number])
      by_rank.try_emplace(link.rank, plan.patterns.size(), &no_link).first->second[g] = &link;
  }
  StagePlan stage;
  for (auto& [rank, links] : by_rank)
    if (rank == plan.communicator().rank()) stage.self = SelfPlan{std::move(links), {}, {}, {}};
    else stage.links.push_back({rank, std::move(links), {}, {}, {}, false, {}, {}});
  return stage;
}

// Writing pieces much shorter than a cache line to a neighbor transfers a whole line each.
constexpr byte_count small_piece = 128;

bool receives_small(const Plan& plan, const LinkPlan& link) {
  const MessageLayout ghosts = message_layout(plan, link.links, End::ghosts, Direction::forward);
  const byte_count piece = compile_end(plan, ghosts, Into::field).mean_piece();
  return piece > 0 && piece < small_piece;
}

// Fingerprint of a link's side, equal at both ends: boxes relative to the reader's block, order of
// entries, duplicates.
std::int64_t shape_of(const Link& link, End end) {
  const Selection& side = selection_of(link, end);
  const bool sent = end == End::owned;
  Hash hash;
  for (const BoxPiece& piece : side.boxes)
    for (int d = 0; d < max_dimensions; ++d) {
      const int here = piece.axis(d);
      hash.add(piece.is_backward(d) ? piece.owner.hi[here] - piece.cells.hi[here]
                                    : piece.cells.lo[here] - piece.owner.lo[here])
          .add(piece.cells.extent(here))
          .add(piece.owner.extent(here));
    }
  hash.add(side.cells.size()).add(entries_of(link, end, Direction::forward));
  hash.add_range(sent ? link.send_duplicate_of : link.receive_duplicate_of);
  return hash.value();
}

// Stage, size of pieces, fingerprints of the links, packing orders, record.
Message announcement(
    const Plan& plan, std::size_t stage, const LinkPlan& link, const Words& record) {
  Words words{static_cast<std::int64_t>(stage), receives_small(plan, link)};
  for (const Link* each : link.links)
    words.insert(words.end(), {shape_of(*each, End::owned), shape_of(*each, End::ghosts)});
  for (int f = 0; f < plan.field_count(); ++f)
    put_list(words, packing_order(plan.fields[f], plan.pattern_of(f).dimensions));
  put_list(words, record);
  Message message{link.rank, {}};
  message.append(words.data(), words.size());
  return message;
}

LinkPlan* find_link(Plan& plan, std::int64_t stage, int rank) {
  if (stage >= static_cast<std::int64_t>(plan.stages.size())) return nullptr;
  auto& links = plan.stages[stage].links;
  const auto found = std::ranges::find(links, rank, &LinkPlan::rank);
  return found == links.end() ? nullptr : &*found;
}

void accept(Plan& plan, const Message& message) {
  const auto words = message.values<global_index>();
  WordReader reader(words);
  const std::string with = "rank " + std::to_string(message.rank);
  LinkPlan* link = find_link(plan, reader.next(), message.rank);
  if (link == nullptr)
    refuse(with,
        " exchanges with this rank, but is not in its pattern: build the "
        "patterns together, from one domain");
  link->small = reader.next() != 0 || receives_small(plan, *link);
  for (std::size_t g = 0; g < link->links.size(); ++g) {
    const Link& here = *link->links[g];
    const auto sends = reader.next(), receives = reader.next();
    if (sends == shape_of(here, End::ghosts) && receives == shape_of(here, End::owned)) continue;
    refuse(with, " exchanges other cells",
        (link->links.size() > 1 ? " of group " + std::to_string(g) : ""),
        " with this rank than this rank expects: build the patterns together, from one "
        "domain");
  }
  while (link->orders.size() < plan.fields.size()) link->orders.push_back(reader.list<int>());
  link->record = reader.list<std::int64_t>();
}

void shake_hands(Plan& plan, const Words& record) {
  std::vector<Message> announcements;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (const LinkPlan& link : plan.stages[s].links)
      announcements.push_back(announcement(plan, s, link, record));
  const std::size_t expected = announcements.size();
  const auto received = sparse_exchange(plan.communicator(), std::move(announcements));
  check_disjoint(plan, plan.bases.data());
  for (const Message& message : received) accept(plan, message);
  if (received.size() != expected)
    refuse(expected, " neighbors in the pattern of this rank, but ", received.size(),
        " ranks list it as theirs: build the patterns together, from one domain");
}

}  // namespace

void merge_stages(Plan& plan) {
  std::size_t count = 0;
  for (const auto& pattern : plan.patterns) count = std::max(count, pattern->stages.size());
  for (std::size_t s = 0; s < count; ++s) plan.stages.push_back(merged_stage(plan, s));
}

Plan make_plan(std::vector<Group> groups, const PlanTerms& terms) {
  if (groups.empty())
    refuse("an exchange needs at least one group: pass a pattern with its fields");
  find_spaces(groups);
  require_equal(
      groups.front().patterns.front().communicator,
      "the fields, the domain or the options of the exchange",
      [&](Properties& told) { tell_all(told, groups, terms.options); },
      "pass the same ones on every rank",
      [&] {
        check_groups(groups);
        if (terms.check) terms.check();
      });
  Plan plan = without_stages(std::move(groups), terms.threads ? terms.threads() : 1);
  merge_stages(plan);
  shake_hands(plan, terms.record ? terms.record() : Words());
  compile_stages(plan);
  return plan;
}

std::string field_name(const Plan& plan, int f) {
  const auto [group, field] = plan.numbers[f];
  return named(field, group, plan.several);
}

Group::Group(Pattern pattern, std::vector<Field> of) : fields(std::move(of)) {
  patterns.push_back(std::move(pattern));
}

Group::Group(const CartesianDomain& domain, std::vector<Field> of) : fields(std::move(of)) {
  for (const Field& field : fields) {
    Stagger more;
    bool possible = !field.indexed && field.boundary == domain.boundary();
    for (int d = 0; d < domain.dimensions(); ++d) {
      more.along[d] = static_cast<std::int16_t>(field.stagger.along[d] - domain.stagger().along[d]);
      possible = possible &&
                 (more.along[d] == 0 ||
                     (std::abs(more.along[d]) == 1 && domain.stagger().along[d] == 0)) &&
                 field.halo.lower[d] >= 0 && field.halo.lower[d] <= domain.halo().lower[d] &&
                 field.halo.upper[d] >= 0 && field.halo.upper[d] <= domain.halo().upper[d];
    }
    const auto known = [&](const Pattern& pattern) { return fits(pattern, field); };
    if (possible && std::ranges::none_of(patterns, known))
      patterns.push_back(build_pattern(domain.staggered(more), field.halo));
  }
  if (patterns.empty()) patterns.push_back(build_pattern(domain));
}

void Plan::move_to(Bases arrays) {
  std::copy_n(arrays, bases.size(), bases.begin());
  std::byte* const* next = bases.data();
  for (Field& field : fields)
    for (BlockView& block : field.blocks) block.first = *next++;
}

byte_count Plan::bytes_sent(Direction direction) const {
  byte_count total = 0;
  for (const StagePlan& stage : stages)
    for (const LinkPlan& link : stage.links) total += link.way(direction).send_bytes;
  return total;
}

int Plan::messages_sent(Direction direction) const {
  int total = 0;
  for (const StagePlan& stage : stages)
    for (const LinkPlan& link : stage.links) total += link.way(direction).send_bytes > 0;
  return total;
}

}  // namespace parhelion
