#include <algorithm>
#include <utility>

#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

// Turns HandleError into Error, which all ranks can report; not for the first domain, which
// supplies the communicator.
Source source_of(const phl_group& group, int number) {
  try {
    return {group.domain, group.map, number};
  } catch (const HandleError& error) {
    refuse("group ", number, ": ", error.what());
  }
}

template <class Handle>
int create_from(Handle handle, int fields, const phl_field* field,
    const phl_exchange_options* options, phl_exchange* exchange) {
  return guarded([&] {
    const Source source(handle);
    make_exchange(source.communicator(), "phl_exchange_create", options, exchange,
        [&] { return std::vector{group_of(source, field, fields, "field")}; });
  });
}

Only only_from(const phl_only& given) {
  Only only;
  require_array(given.fields, given.field_count, "fields");
  for (int i = 0; i < given.field_count; ++i) only.fields.push_back(given.fields[i]);
  for (std::size_t d = 0; given.own_depth && d < PHL_MAX_DIMENSIONS; ++d) {
    only.depth.lower[d] = given.depth_lower[d];
    only.depth.upper[d] = given.depth_upper[d];
  }
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
  std::copy(found.cell.begin(), found.cell.end(), ghost.cell);
  found.here.copy(ghost.here, sizeof ghost.here - 1);
  found.there.copy(ghost.there, sizeof ghost.there - 1);
  return ghost;
}

}  // namespace

namespace parhelion::c {

void ExchangeObject::end() {
  if (!begun) return FieldsObject::end();
  exchange.end(*begun);
  step.reset();
  begun.reset();
}

void require_groups(int count) {
  if (count < 1)
    refuse("an exchange needs at least one group: pass a domain or map with its fields");
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
      "no field has a halo, though its domain has one: nothing would be exchanged. Leave "
      "own_halo 0 for the domain's halo, or give "
      "halo_lower and halo_upper");
}

void make_subset(phl_exchange whole, const Only& only, phl_exchange& subset) {
  const auto object = get(whole);
  std::vector<MadeField> made;
  for (const int f : resolve(object->exchange.plan(), only).fields)
    made.push_back(object->made[static_cast<std::size_t>(f)]);
  keep(ExchangeObject{{std::move(made)}, object->exchange.only(only)}, subset);
}

void run(ExchangeObject& object, Call call, int reduction, const std::vector<Field>& arrays) {
  Exchange& exchange = object.exchange;
  const auto queue = object.queue;
  const auto begin = [&](Step step) {
    object.step.emplace(std::move(step));
    object.begun = queue;
  };
  const auto how = [=] { return reduction_from(reduction); };
  switch (call) {
    case Call::forward: return queue ? exchange(*queue, arrays) : exchange(arrays);
    case Call::begin: return begin(queue ? exchange.begin(*queue, arrays) : exchange.begin(arrays));
    case Call::reverse:
      return queue ? exchange.reverse(*queue, how(), arrays) : exchange.reverse(how(), arrays);
    case Call::begin_reverse:
      return begin(queue ? exchange.begin_reverse(*queue, how(), arrays)
                         : exchange.begin_reverse(how(), arrays));
    case Call::check: return exchange.check(arrays);
    case Call::prepare: return exchange.prepare(arrays);
    case Call::retune: exchange.retune(arrays);
  }
}

// Texts live as long as the exchange; retuning may change them.
const char* kept(ExchangeObject& object, std::string text) {
  const auto same = std::ranges::find(object.texts, text);
  return same != object.texts.end() ? same->c_str()
                                    : object.texts.emplace_back(std::move(text)).c_str();
}

void tell_stale(ExchangeObject& object, const std::vector<Field>& arrays, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told) {
  const StaleGhosts found = object.exchange.stale(arrays);
  const int all = static_cast<int>(found.first.size());
  const int few = first == nullptr ? 0 : std::clamp(capacity, 0, all);
  std::transform(found.first.begin(), found.first.begin() + few, first, stale_from);
  put_all(counts, found.count);
  put(told, few);
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
    require_array(group, count, "group");
    const Source first(group[0].domain, group[0].map, 0);
    const auto read = [&] {
      std::vector<GivenGroup> groups;
      for (int g = 0; g < count; ++g) {
        const Source source = g == 0 ? first : source_of(group[g], g);
        groups.push_back(group_of(source, group[g].field, group[g].fields, "field"));
      }
      return groups;
    };
    make_exchange(first.communicator(), "phl_exchange_create", options, exchange, read);
  });
}
int phl_exchange_only(phl_exchange exchange, const phl_only* only, phl_exchange* subset) {
  return guarded([&] {
    require_output(only, "only");
    require_output(subset, "subset");
    make_subset(exchange, only_from(*only), *subset);
  });
}
int phl_exchange_free(phl_exchange* exchange) { return free_handle(exchange); }

int phl_exchange_forward(phl_exchange exchange, const phl_field* fields, int count) {
  return call(exchange, Call::forward, 0, fields, count);
}
int phl_exchange_begin(phl_exchange exchange, const phl_field* fields, int count) {
  return call(exchange, Call::begin, 0, fields, count);
}
int phl_exchange_reverse(phl_exchange exchange, int reduction, const phl_field* fields, int count) {
  return call(exchange, Call::reverse, reduction, fields, count);
}
int phl_exchange_begin_reverse(
    phl_exchange exchange, int reduction, const phl_field* fields, int count) {
  return call(exchange, Call::begin_reverse, reduction, fields, count);
}
int phl_exchange_set_stream(phl_exchange exchange, void* stream) {
  return with(exchange,
      [&](auto& object) { object.queue = stream == nullptr ? nullptr : queue_of_stream(stream); });
}
int phl_exchange_check(phl_exchange exchange, const phl_field* fields, int count) {
  return call(exchange, Call::check, 0, fields, count);
}
int phl_exchange_retune(phl_exchange exchange, const phl_field* fields, int count) {
  return call(exchange, Call::retune, 0, fields, count);
}
int phl_exchange_prepare(phl_exchange subset, const phl_field* fields, int count) {
  return call(subset, Call::prepare, 0, fields, count);
}

int phl_exchange_test(phl_exchange exchange, int* done) {
  return with(exchange, [&](auto& object) {
    require_output(done, "done");
    *done = !object.step || object.step->test();
  });
}
int phl_exchange_end(phl_exchange exchange) {
  return with(exchange, [](auto& object) { object.end(); });
}
int phl_exchange_stale(phl_exchange exchange, const phl_field* fields, int count, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told) {
  return with(exchange, [&](auto& object) {
    tell_stale(object, object.views(fields, count), counts, capacity, first, told);
  });
}
int phl_exchange_under_way(phl_exchange exchange, int* under_way) {
  return with(exchange, [&](const auto& object) {
    require_output(under_way, "under_way");
    *under_way = object.exchange.under_way();
  });
}
int phl_exchange_traffic(phl_exchange exchange, int direction, int64_t* bytes, int32_t* messages) {
  return with(exchange, [&](const auto& object) {
    const auto way = in_range<Direction>(direction, PHL_REVERSE, "direction");
    put(bytes, object.exchange.plan().bytes_sent(way));
    put(messages, object.exchange.plan().messages_sent(way));
  });
}
int phl_exchange_transport(phl_exchange exchange, const char** name) {
  return with(exchange, [&](auto& object) {
    require_output(name, "name");
    *name = kept(object, object.exchange.transport());
  });
}
int phl_exchange_explain(phl_exchange exchange, const char** text) {
  return with(exchange, [&](auto& object) {
    require_output(text, "text");
    *text = kept(object, object.exchange.explain());
  });
}

}  // extern "C"
