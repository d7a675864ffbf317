#include <ranges>

#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

template <class Handle>
int create_from(Handle handle, int count, const phl_field* fields,
    const phl_exchange_options* options, phl_exchange* exchange) {
  return guarded([&] {
    const Source source(handle);
    make_exchange(source.communicator(), "phl_exchange_create", options, exchange,
        [&] { return std::vector{group_of(source, fields, count)}; });
  });
}

Only only_from(const phl_only& given) {
  Only only;
  for (const int32_t field : List(given.fields, given.field_count, "fields"))
    only.fields.push_back(field);
  if (given.own_depth)
    only.depth = HaloWidth(std::to_array(given.depth_lower), std::to_array(given.depth_upper));
  only.neighbors = in_range<Neighbors>(given.neighbors, 1, "kind of neighbors");
  return only;
}

int call(phl_exchange exchange, Call call, int reduction, const phl_field* fields, int count) {
  return with(
      exchange, [&](auto& object) { run(object, call, reduction, object.views(fields, count)); });
}

phl_stale_ghost stale_from(const StaleGhost& found) {
  phl_stale_ghost ghost{found.field, found.owner, found.component,
      static_cast<int32_t>(found.cell.size()), {}, {}, {}};
  std::ranges::copy(found.cell, ghost.cell);
  found.here.copy(ghost.here, sizeof ghost.here - 1);
  found.there.copy(ghost.there, sizeof ghost.there - 1);
  return ghost;
}

int call(phl_redistribution redistribution, MoveCall call, const phl_field* from,
    const phl_field* to, int count) {
  return with(redistribution, [&](auto& object) {
    move(object, call, [&] {
      const List sources(from, count, "from"), targets(to, count, "to");
      std::vector<Move> moves;
      for (std::size_t i = 0; i < sources.size(); ++i)
        moves.push_back({object.from.view(sources[i]), object.to.view(targets[i])});
      return moves;
    });
  });
}

int call(phl_cartesian domain, const char* name, bool to_root, int root, const phl_field* field,
    const void* whole) {
  return with(domain, [&](auto& grid) {
    collectively(grid.communicator(), name, [&] {
      require_output(field, "the field");
      const Field own = Source(domain).view(*field);
      auto* const first = static_cast<std::byte*>(const_cast<void*>(whole));
      const Field all = view_whole(grid, first, own.element,
          {static_cast<Order>(field->order), own.components,
              stagger_from(field->stagger, grid.dimensions())});
      if (to_root) gather(grid, own, all, root);
      else scatter(grid, all, own, root);
    });
  });
}

int call(phl_point_sums sums, Call call, int reduction, const phl_field* fields, int count) {
  return with(sums, [&](auto& object) {
    reduce(object, call == Call::begin, reduction, object.views(fields, count));
  });
}

}  // namespace

namespace parhelion::c {

void require_groups(int count) {
  if (count < 1) refuse("an exchange needs at least one group: pass one with its fields");
}

void require_some_halo(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    const Pattern& pattern = group.patterns.front();
    if (pattern.indexed() || pattern.halo == HaloWidth(0) || group.fields.empty()) return;
    for (const Field& field : group.fields)
      if (field.halo != HaloWidth(0) || field.stagger != Stagger{})
        return;  // shared points travel at any depth
  }
  refuse(
      "no field has a halo, though its domain has one: leave own_halo 0 for the domain's halo, or "
      "give halo_lower and halo_upper");
}

void make_subset(phl_exchange whole, const Only& only, phl_exchange* subset) {
  const auto object = get(whole);
  create(subset, [&] {
    std::vector<MadeField> made;
    for (const int f : resolve(object->exchange.plan(), only).fields)
      made.push_back(object->made[f]);
    return ExchangeObject{{std::move(made)}, object->exchange.only(only)};
  });
}

void run(ExchangeObject& object, Call call, int reduction, const std::vector<Field>& given) {
  Exchange& exchange = object.exchange;
  const ArrayList arrays(given);
  const auto way = Direction(call == Call::reverse || call == Call::begin_reverse);
  switch (call) {
    case Call::forward:
    case Call::reverse:
      return exchange.run_with(way, reduction_from(reduction), arrays, object.queue.get());
    case Call::begin:
    case Call::begin_reverse:
      object.step.emplace(
          exchange.begin_with(way, reduction_from(reduction), arrays, object.queue.get()));
      object.begun = object.queue;
      return;
    case Call::check: return exchange.check(given);
    case Call::prepare: return exchange.prepare(given);
    default: exchange.retune(given);
  }
}

// Texts live as long as the exchange; retuning may change them.
const char* kept(ExchangeObject& object, std::string text) {
  return object.texts.insert(std::move(text)).first->c_str();
}

void tell_stale(ExchangeObject& object, const std::vector<Field>& arrays, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told) {
  const StaleGhosts found = object.exchange.stale(arrays);
  const int few = first ? std::clamp<int>(capacity, 0, std::ssize(found.first)) : 0;
  std::ranges::transform(found.first | std::views::take(few), first, stale_from);
  put_all(counts, found.count);
  put(told, few);
}

void reduce(PointSumsObject& object, bool begin, int reduction, const std::vector<Field>& fields) {
  const Reduction how = reduction_from(reduction);
  if (begin) object.step.emplace(object.sums.begin(how, fields));
  else object.sums.reduce(how, fields);
}

}  // namespace parhelion::c

extern "C" {

int phl_exchange_create_cartesian(phl_cartesian domain, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_exchange* exchange) {
  return create_from(domain, fields, field, options, exchange);
}
int phl_exchange_create_index_map(phl_index_map map, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_exchange* exchange) {
  return create_from(map, fields, field, options, exchange);
}
int phl_exchange_create_groups(int count, const phl_group* group,
    const phl_exchange_options* options, phl_exchange* exchange) {
  return guarded([&] {
    require_groups(count);
    const List all(group, count, "group");
    const Source first(group->domain, group->map, 0);
    make_exchange(first.communicator(), "phl_exchange_create", options, exchange, [&] {
      std::vector<GivenGroup> groups;
      for (const auto& [domain, map, field, fields] : all)
        groups.push_back(group_of({domain, map, static_cast<int>(groups.size())}, field, fields));
      return groups;
    });
  });
}
int phl_exchange_only(phl_exchange exchange, const phl_only* only, phl_exchange* subset) {
  return guarded([&] {
    require_output(only, "only");
    make_subset(exchange, only_from(*only), subset);
  });
}
#define PHL_CALL(name) \
  int phl_exchange_##name(phl_exchange exchange, const phl_field* fields, int count) { \
    return call(exchange, Call::name, PHL_REPLACE, fields, count); \
  }
#define PHL_REDUCTION(of, name) \
  int phl_##of##_##name(phl_##of object, int reduction, const phl_field* fields, int count) { \
    return call(object, Call::name, reduction, fields, count); \
  }
PHL_CALL(forward)
PHL_CALL(begin)
PHL_CALL(check)
PHL_CALL(retune)
PHL_CALL(prepare)
PHL_REDUCTION(exchange, reverse)
PHL_REDUCTION(exchange, begin_reverse)
PHL_REDUCTION(point_sums, reduce)
PHL_REDUCTION(point_sums, begin)

int phl_exchange_set_stream(phl_exchange exchange, void* stream) {
  return with(
      exchange, [&](auto& object) { object.queue = stream ? queue_of_stream(stream) : nullptr; });
}
int phl_exchange_test(phl_exchange exchange, int* done) {
  return with(exchange, [&](auto& object) { put(done, !object.step || object.step->test()); });
}
int phl_exchange_end(phl_exchange exchange) {
  return with(exchange, [](auto& object) {
    if (!object.begun) return object.end();
    object.exchange.end(*object.begun);
    object.step.reset();
    object.begun.reset();
  });
}
int phl_exchange_stale(phl_exchange exchange, const phl_field* fields, int count, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told) {
  return with(exchange, [&](auto& object) {
    tell_stale(object, object.views(fields, count), counts, capacity, first, told);
  });
}
int phl_exchange_under_way(phl_exchange exchange, int* under_way) {
  return with(exchange, [&](auto& object) { put(under_way, object.exchange.under_way()); });
}
int phl_exchange_traffic(phl_exchange exchange, int direction, int64_t* bytes, int32_t* messages) {
  return with(exchange, [&](auto& object) {
    const auto way = in_range<Direction>(direction, PHL_REVERSE, "direction");
    put(bytes, object.exchange.plan().bytes_sent(way));
    put(messages, object.exchange.plan().messages_sent(way));
  });
}
int phl_exchange_transport(phl_exchange exchange, const char** name) {
  return with(
      exchange, [&](auto& object) { put(name, kept(object, object.exchange.transport())); });
}
int phl_exchange_explain(phl_exchange exchange, const char** text) {
  return with(exchange, [&](auto& object) { put(text, kept(object, object.exchange.explain())); });
}

int phl_point_sums_create(phl_cartesian domain, int count, const phl_field* given,
    const phl_exchange_options* options, phl_point_sums* sums) {
  return guarded([&] {
    const Source source(domain);
    make_point_sums(source, options, sums, [&] { return group_of(source, given, count); });
  });
}
int phl_point_sums_end(phl_point_sums sums) {
  return with(sums, [](auto& object) { object.end(); });
}

int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to, const int32_t* axes,
    const phl_exchange_options* options, phl_redistribution* redistribution) {
  const auto read = [&] {
    const int count = axes ? get(from)->dimensions() : 0;
    return std::vector<int>(axes, axes + count);
  };
  return make_move(from, to, options, redistribution, read);
}
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to,
    const phl_exchange_options* options, phl_redistribution* redistribution) {
  return make_move(from, to, options, redistribution);
}
#define PHL_MOVE(name) \
  int phl_redistribution_##name( \
      phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) { \
    return call(redistribution, &Redistribution::name, from, to, count); \
  }
PHL_MOVE(forward)
PHL_MOVE(back)
PHL_MOVE(prepare)

int phl_cartesian_gather(phl_cartesian domain, const phl_field* field, void* whole, int root) {
  return call(domain, __func__, true, root, field, whole);
}
int phl_cartesian_scatter(
    phl_cartesian domain, const void* whole, const phl_field* field, int root) {
  return call(domain, __func__, false, root, field, whole);
}

}  // extern "C"
