#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

int call(phl_redistribution redistribution, MoveCall call, const phl_field* from,
    const phl_field* to, int count) {
  return with(redistribution, [&](auto& object) {
    move(object, call, [&] {
      const auto sources = object.from.views(from, count, "from"),
                 targets = object.to.views(to, count, "to");
      std::vector<Move> moves;
      for (std::size_t i = 0; i < sources.size(); ++i) moves.push_back({sources[i], targets[i]});
      return moves;
    });
  });
}

int call(phl_cartesian domain, const char* name, bool to_root, int root, const phl_field* field,
    const void* whole) {
  return move_whole(domain, name, to_root, root, [&] {
    require_output(field, "the field");
    const Source source(domain);
    const Field made = source.view(*field);
    const ArrayLayout layout{static_cast<Order>(field->order), made.components,
        stagger_from(field->stagger, source.grid()->dimensions())};
    auto* const first = static_cast<std::byte*>(const_cast<void*>(whole));
    return WholeGrid{made, view_whole(*source.grid(), first, made.element, layout)};
  });
}

int call(phl_point_sums sums, bool begin, int reduction, const phl_field* fields, int count) {
  return with(
      sums, [&](auto& object) { reduce(object, begin, reduction, object.views(fields, count)); });
}

}  // namespace

namespace parhelion::c {

void reduce(PointSumsObject& object, bool begin, int reduction, const std::vector<Field>& fields) {
  const Reduction how = reduction_from(reduction);
  if (begin) object.step.emplace(object.sums.begin(how, fields));
  else object.sums.reduce(how, fields);
}

}  // namespace parhelion::c

extern "C" {

int phl_point_sums_create(phl_cartesian domain, int count, const phl_field* given,
    const phl_exchange_options* options, phl_point_sums* sums) {
  return guarded([&] {
    const Source source(domain);
    make_point_sums(
        source, options, sums, [&] { return group_of(source, given, count, "fields"); });
  });
}
int phl_point_sums_reduce(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
  return call(sums, false, reduction, fields, count);
}
int phl_point_sums_begin(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
  return call(sums, true, reduction, fields, count);
}
int phl_point_sums_end(phl_point_sums sums) {
  return with(sums, [](auto& object) { object.end(); });
}
int phl_point_sums_free(phl_point_sums* sums) { return free_handle(sums); }

int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to, const int32_t* axes,
    const phl_exchange_options* options, phl_redistribution* redistribution) {
  const auto read = [&] {
    const int count = axes == nullptr ? 0 : get(from)->grid.dimensions();
    return std::vector<int>(axes, axes + count);
  };
  return make_move(from, to, options, redistribution, read);
}
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to,
    const phl_exchange_options* options, phl_redistribution* redistribution) {
  return make_move(from, to, options, redistribution, [] { return std::vector<int>(); });
}
int phl_redistribution_forward(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) {
  return call(redistribution, &Redistribution::forward, from, to, count);
}
int phl_redistribution_back(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) {
  return call(redistribution, &Redistribution::back, from, to, count);
}
int phl_redistribution_prepare(
    phl_redistribution redistribution, const phl_field* from, const phl_field* to, int count) {
  return call(redistribution, &Redistribution::prepare, from, to, count);
}
int phl_cartesian_gather(phl_cartesian domain, const phl_field* field, void* whole, int root) {
  return call(domain, "phl_cartesian_gather", true, root, field, whole);
}
int phl_cartesian_scatter(
    phl_cartesian domain, const void* whole, const phl_field* field, int root) {
  return call(domain, "phl_cartesian_scatter", false, root, field, whole);
}
int phl_redistribution_free(phl_redistribution* redistribution) {
  return free_handle(redistribution);
}

}  // extern "C"
