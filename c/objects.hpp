// Objects behind handles, and what C and Fortran share, whose functions only convert arguments.
// Throws Error for arguments that do not fit.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "guard.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/localize.hpp"
#include "parhelion/index_map/migration.hpp"
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/phl.h"
#include "parhelion/redistribution/gather.hpp"
#include "parhelion/redistribution/redistribution.hpp"

namespace parhelion::c {

struct Kind {
  unsigned number;
  const char* name;
};

struct IndexMapObject : IndexMap {
  static constexpr Kind kind{1, "index map"};
  ExchangeOptions options = {};
  std::vector<CellValues> arrays = {};  ///< of a call
};

struct CartesianObject : CartesianDomain {
  static constexpr Kind kind{2, "Cartesian domain"};
  const CartesianDomain& domain() const { return *this; }
};

/// A handle's current domain or map, and views of its arrays.
class Source {
 public:
  explicit Source(phl_cartesian domain);
  explicit Source(phl_index_map map);
  /// Exactly one handle is given.
  Source(phl_cartesian domain, phl_index_map map, int group);

  const Communicator& communicator() const {
    return grid_ ? grid_->communicator() : map_->communicator();
  }
  Group group(std::vector<Field> fields) const {
    return grid_ ? Group(*grid_, std::move(fields)) : Group(map_->pattern(), std::move(fields));
  }
  /// One of the two is null.
  const CartesianDomain* grid() const { return grid_.get(); }
  const IndexedDomain* cells() const { return map_ ? &map_->domain() : nullptr; }
  Field view(const phl_field& given) const;

 private:
  std::shared_ptr<const CartesianObject> grid_;
  std::optional<IndexMap> map_;
};

/// Of the constructor call. Fortran passes layouts there, not at calls.
struct MadeField {
  Source source;
  Element element = {};
  ArrayLayout layout = {};
  std::size_t arrays = 1;  ///< more than 1 for separate ghosts or several blocks (Fortran)
};

/// An operation on fields, also in halves.
struct FieldsObject {
  std::vector<MadeField> made;
  std::vector<Field> called = {};  ///< of a call
  std::optional<Step> step = {};
  const std::vector<Field>& views(const phl_field* given, int count);
  bool under_way() const { return step && !step->has_ended(); }
  void end();
};

struct ExchangeObject : FieldsObject {
  static constexpr Kind kind{3, "exchange"};
  Exchange exchange;
  std::set<std::string> texts = {};               ///< that callers have
  std::shared_ptr<Queue> queue = {}, begun = {};  ///< of calls, and of the step under way
};

struct RedistributionObject : Redistribution {
  static constexpr Kind kind{4, "redistribution"};
  Source from, to;
  double timeout_s;
  bool called = false;
};

struct PointSumsObject : FieldsObject {
  static constexpr Kind kind{5, "sums of points"};
  PointSums sums;
};

struct MigrationObject : Migration {
  static constexpr Kind kind{6, "migration"};
};

IndexMapObject object_of(phl_index_map);
CartesianObject object_of(phl_cartesian);
ExchangeObject object_of(phl_exchange);
RedistributionObject object_of(phl_redistribution);
PointSumsObject object_of(phl_point_sums);
MigrationObject object_of(phl_migration);
template <class Handle>
using ObjectOf = decltype(object_of(Handle()));

/// By handles, which hold the kind's number and are never used again.
using Objects = std::map<std::uintptr_t, std::shared_ptr<void>>;
/// One object.
Objects new_object(std::shared_ptr<void> object, Kind kind);
/// Returns its handle. Allocates nothing.
std::uintptr_t keep(Objects& one);
std::shared_ptr<void> object_at(std::uintptr_t handle, Kind kind);
void drop_object(std::uintptr_t handle);

template <class Handle>
auto get(Handle handle) {
  using Object = ObjectOf<Handle>;
  return std::static_pointer_cast<Object>(
      object_at(reinterpret_cast<std::uintptr_t>(handle), Object::kind));
}

/// Guarded work on a handle's object.
template <class Handle, class Work>
int with(Handle handle, Work&& work) noexcept {
  return guarded([&] { work(*get(handle)); });
}

template <class Handle>
void require_handle(const Handle* handle) {
  require_output(handle, std::string("the handle of the ") + ObjectOf<Handle>::kind.name);
}

/// A handle of what `make` returns, called through `on_all`.
template <class Handle, class Make, class OnAll>
void create(Handle* handle, Make&& make, OnAll&& on_all) {
  using Object = ObjectOf<Handle>;
  Objects made = on_all([&] {
    require_handle(handle);
    return new_object(std::make_shared<Object>(make()), Object::kind);
  });
  *handle = reinterpret_cast<Handle>(keep(made));
}
/// Local.
template <class Handle, class Make>
void create(Handle* handle, Make&& make) {
  create(handle, make, [](auto&& work) { return work(); });
}
/// Collective: every rank reports errors of `make`, which reads the arguments first.
template <class Handle, class Make>
void create(const Communicator& comm, const char* call, const ExchangeOptions& options,
    Handle* handle, Make&& make) {
  create(handle, make,
      [&](auto&& work) { return collectively(comm, call, setup_limit(options), work); });
}

ExchangeOptions options_from(const phl_exchange_options* options);

/// On a communicator. Collective.
template <class Handle, class Make>
int create_on(MPI_Comm handle, const char* call, Handle* made, Make&& make) {
  return guarded([&] {
    const Communicator comm(handle);
    create(comm, call, {}, made, [&] { return make(comm); });
  });
}

inline IndexMap with_options(IndexedDomain domain, const ExchangeOptions& options) {
  return IndexMap(std::move(domain), options);
}
inline IndexMap with_options(IndexMap map, const ExchangeOptions&) { return map; }

/// From the domain or map that `make` returns. Collective.
template <class Make>
void make_map(const Communicator& comm, const char* call, const ExchangeOptions& options,
    phl_index_map* map, Make&& make) {
  create(comm, call, options, map,
      [&] { return IndexMapObject{with_options(make(), options), options}; });
}
template <class Make>
int make_map(MPI_Comm handle, const char* call, const phl_exchange_options* options,
    phl_index_map* map, Make&& make) {
  return guarded([&] {
    const Communicator comm(handle);
    make_map(comm, call, options_from(options), map, [&] { return make(comm); });
  });
}
/// With the options of the other map.
template <class Make>
int derive_map(phl_index_map from, const char* call, phl_index_map* map, Make&& make) {
  return with(from, [&](const IndexMapObject& base) {
    make_map(base.communicator(), call, base.options, map, [&] { return make(base); });
  });
}
const Places& placed(const IndexMap& map);

template <class Work>
decltype(auto) on_all(const IndexMapObject& object, const char* call, Work&& work) {
  return collectively(object.communicator(), call, setup_limit(object.options), work);
}

/// Local cells of the ids that `read` returns, of which missing ones become ghosts. Collective.
template <class Read>
std::vector<local_index> localize_ids(IndexMapObject& object, const char* call, Read&& read) {
  std::vector<local_index> found;
  static_cast<IndexMap&>(object) = on_all(object, call, [&] {
    refuse_places(object.places());
    object.refuse_subset();
    if (object.under_way())
      refuse("an exchange of the map is under way: end it before the map gets further ghosts");
    auto [nodes, cells] = localize(read(), object.domain());
    found = std::move(cells);
    return IndexMap(std::move(nodes), object.options);
  });
  return found;
}

/// A rule of enum phl_rank_order, or a table of ranks.
RankOrder rank_order_from(int rule, std::vector<int> table);
int block_of(const CartesianDomain& domain, int64_t block);

struct GivenGroup {
  Source source;
  std::vector<Field> fields;
  std::vector<MadeField> made = {};
};
GivenGroup group_of(const Source& source, const phl_field* fields, int count);
void require_groups(int count);
/// Detects `own_halo` without widths.
void require_some_halo(const std::vector<Group>& groups);
/// An exchange of the groups, or sums of points of the group, that `read` returns. Collective.
template <class Read>
void make_exchange(const Communicator& comm, const char* call, const phl_exchange_options* given,
    phl_exchange* exchange, Read&& read) {
  const ExchangeOptions options = options_from(given);
  create(comm, call, options, exchange, [&] {
    std::vector<Group> groups;
    std::vector<MadeField> made;
    for (GivenGroup& group : read()) {
      made.insert(made.end(), group.made.begin(), group.made.end());
      groups.push_back(group.source.group(std::move(group.fields)));
    }
    require_some_halo(groups);
    return ExchangeObject{{std::move(made)}, Exchange(std::move(groups), options)};
  });
}
template <class Read>
void make_point_sums(
    const Source& domain, const phl_exchange_options* given, phl_point_sums* sums, Read&& read) {
  const ExchangeOptions options = options_from(given);
  create(domain.communicator(), "phl_point_sums_create", options, sums, [&] {
    GivenGroup group = read();
    return PointSumsObject{
        {std::move(group.made)}, {*domain.grid(), std::move(group.fields), options}};
  });
}
void make_subset(phl_exchange whole, const Only& only, phl_exchange* subset);

/// Fortran uses the numbers. `reduce`: of sums.
enum class Call { forward = 0, begin, reverse, begin_reverse, check, retune, prepare, reduce };
void run(ExchangeObject& object, Call call, int reduction, const std::vector<Field>& fields);
void tell_stale(ExchangeObject& object, const std::vector<Field>& fields, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told);
void reduce(PointSumsObject& object, bool begin, int reduction, const std::vector<Field>& fields);
using MoveCall = void (Redistribution::*)(std::span<const Move>);
/// At the first call, which is collective, all ranks report errors of `read`.
template <class Read>
void move(RedistributionObject& object, MoveCall call, Read&& read) {
  const auto run = [&] { (object.*call)(read()); };
  if (object.called) run();
  else
    collectively(object.from.communicator(),
        "forward, back or prepare, the first call of a redistribution", object.timeout_s, run);
  object.called = true;
}
/// Between grids, with axes from 0 of `read_axes`, or maps. Collective.
template <class Handle, class... ReadAxes>
int make_move(Handle from, Handle to, const phl_exchange_options* given,
    phl_redistribution* redistribution, ReadAxes&&... read_axes) {
  return guarded([&] {
    const auto before = get(from);
    const ExchangeOptions options = options_from(given);
    create(before->communicator(), "phl_redistribution_create", options, redistribution, [&] {
      const Source source(from), target(to);
      return RedistributionObject{{before->domain(), get(to)->domain(), options, read_axes()...},
          source, target, setup_limit(options)};
    });
  });
}

Element element_from(phl_element element);
Reduction reduction_from(int number);
int make_reduction(Element element, phl_combine combine, void* context);
HaloWidth width_from(const int32_t* lower, const int32_t* upper, int dimensions, const char* what);
Stagger stagger_from(const int32_t* along, int dimensions);
/// Ignores tile numbers if the grid has no tiles.
Seam seam_from(const phl_seam& given, bool has_tiles, int dimensions);

}  // namespace parhelion::c
