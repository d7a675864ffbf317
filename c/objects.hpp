// Objects behind handles, and what C and Fortran share, whose functions only convert arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guard.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/index_map.hpp"
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

struct IndexMapObject {
  static constexpr Kind kind{1, "index map"};
  IndexMap map;
  ExchangeOptions options = {};
  std::vector<CellValues> arrays = {};  ///< of a call
  const IndexedDomain& domain() const { return map.domain(); }
  const Communicator& communicator() const { return map.communicator(); }
  bool under_way() const { return map.under_way(); }
};

struct CartesianObject {
  static constexpr Kind kind{2, "Cartesian domain"};
  CartesianDomain grid;
  const CartesianDomain& domain() const { return grid; }
  const Communicator& communicator() const { return grid.communicator(); }
};

/// A handle's current domain or map, and views of its arrays.
class Source {
 public:
  explicit Source(phl_cartesian domain);
  explicit Source(phl_index_map map);
  /// Throws Error unless exactly one handle is given.
  Source(phl_cartesian domain, phl_index_map map, int group);

  const Communicator& communicator() const {
    return grid_ ? grid_->communicator() : map_->communicator();
  }
  Group group(std::vector<Field> fields) const {
    return grid_ ? Group(grid_->grid, std::move(fields))
                 : Group(map_->pattern(), std::move(fields));
  }
  /// One of the two is null.
  const CartesianDomain* grid() const { return grid_ ? &grid_->grid : nullptr; }
  const IndexedDomain* cells() const { return map_ ? &map_->domain() : nullptr; }
  /// Throw Error if an array does not fit.
  Field view(const phl_field& given) const;
  std::vector<Field> views(const phl_field* given, int count, const char* name) const;

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
  /// Throws Error for another number of fields than the constructor's.
  const std::vector<Field>& views(const phl_field* given, int count);
  bool under_way() const { return step && !step->has_ended(); }
  void end();
};

struct ExchangeObject : FieldsObject {
  static constexpr Kind kind{3, "exchange"};
  Exchange exchange;
  std::deque<std::string> texts = {};             ///< that callers have
  std::shared_ptr<Queue> queue = {}, begun = {};  ///< of calls, and of the step under way
  void end();
};

struct RedistributionObject {
  static constexpr Kind kind{4, "redistribution"};
  Redistribution redistribution;
  Source from, to;
  double timeout_s;
  bool called = false;
};

struct PointSumsObject : FieldsObject {
  static constexpr Kind kind{5, "sums of points"};
  PointSums sums;
};

struct MigrationObject {
  static constexpr Kind kind{6, "migration"};
  Migration migration;
  const Communicator& communicator() const { return migration.communicator(); }
};

IndexMapObject object_of(phl_index_map);
CartesianObject object_of(phl_cartesian);
ExchangeObject object_of(phl_exchange);
RedistributionObject object_of(phl_redistribution);
PointSumsObject object_of(phl_point_sums);
MigrationObject object_of(phl_migration);

/// Handles hold a slot, its use count and the object's kind, to detect freed, copied or mixed-up
/// ones. Throw HandleError.
std::uintptr_t keep_object(std::shared_ptr<void> object, Kind kind);
/// Allocates what the next keep_object needs.
void reserve_handle();
std::shared_ptr<void> object_at(std::uintptr_t handle, Kind kind);
void drop_object(std::uintptr_t handle, Kind kind);

/// Throws HandleError for an invalid handle.
template <class Handle>
auto get(Handle handle) {
  using Object = decltype(object_of(handle));
  return std::static_pointer_cast<Object>(
      object_at(reinterpret_cast<std::uintptr_t>(handle), Object::kind));
}

template <class Object, class Handle>
void keep(std::shared_ptr<Object> object, Handle& handle) {
  handle = reinterpret_cast<Handle>(keep_object(std::move(object), Object::kind));
}
template <class Object, class Handle>
void keep(Object object, Handle& handle) {
  keep(std::make_shared<Object>(std::move(object)), handle);
}

/// Guarded work on a handle's object.
template <class Handle, class Work>
int with(Handle handle, Work&& work) noexcept {
  return guarded([&] { work(*get(handle)); });
}

/// Fails while the object is under way.
template <class Handle>
int free_handle(Handle* handle) {
  using Object = decltype(object_of(*handle));
  return guarded([&] {
    require_output(handle, std::string("the handle of the ") + Object::kind.name);
    const auto object = get(*handle);
    if constexpr (requires { object->under_way(); })
      if (object->under_way())
        refuse("this ", Object::kind.name, " is under way: end it before it is freed");
    require_mpi();
    drop_object(reinterpret_cast<std::uintptr_t>(*handle), Object::kind);
    *handle = nullptr;
  });
}

/// `work`, after `check`. All ranks report errors of either. Collective.
template <class Check, class Work>
decltype(auto) collective(
    const Communicator& comm, const char* call, double timeout_s, Check&& check, Work&& work) {
  return collectively(comm, call, timeout_s, [&]() -> decltype(auto) {
    validate_together(comm, check);
    return work();
  });
}

ExchangeOptions options_from(const phl_exchange_options* options);
inline double limit_of(const phl_exchange_options* options) {
  return setup_limit(options_from(options));
}

/// A handle of what `make` returns, after `check`. Collective.
template <class Handle, class Check, class Make>
void create(const Communicator& comm, const char* call, double timeout_s, Handle* handle,
    Check&& check, Make&& make) {
  using Object = decltype(object_of(*handle));
  const auto check_all = [&] {
    require_output(handle, std::string("the handle of the ") + Object::kind.name);
    check();
  };
  auto made = collective(comm, call, timeout_s, check_all, [&] {
    auto object = std::make_shared<Object>(make());
    reserve_handle();
    return object;
  });
  keep(std::move(made), *handle);
}

using Ids = std::vector<global_index>;

inline MPI_Comm comm_of(MPI_Comm comm) { return comm; }
/// Null before MPI_Init and after MPI_Finalize, which Communicator reports.
inline MPI_Comm comm_of(const int* fortran) noexcept try {
  return comm_from_fortran(*fortran);
} catch (...) {
  return MPI_COMM_NULL;
}

inline IndexMap with_options(IndexedDomain domain, const ExchangeOptions& options) {
  return IndexMap(std::move(domain), options);
}
inline IndexMap with_options(IndexMap map, const ExchangeOptions&) { return map; }

template <class Check, class Of>
void run_check(Check&& check, const Of& of) {
  if constexpr (std::is_invocable_v<Check>) check();
  else check(of);
}

/// From the domain or map that `make` returns, after `check`, with given options or those of
/// another map. Collective.
template <class Comm, class Check, class Make>
int make_map(Comm handle, const char* call, const phl_exchange_options* options, phl_index_map* map,
    Check&& check, Make&& make) {
  return guarded([&] {
    const Communicator comm(comm_of(handle));
    create(
        comm, call, limit_of(options), map, [&] { run_check(check, comm); },
        [&] {
          const ExchangeOptions given = options_from(options);
          return IndexMapObject{with_options(make(comm), given), given};
        });
  });
}
template <class Check, class Make>
int derive_map(
    phl_index_map from, const char* call, phl_index_map* map, Check&& check, Make&& make) {
  return with(from, [&](const IndexMapObject& base) {
    create(
        base.communicator(), call, setup_limit(base.options), map,
        [&] { run_check(check, base.map); },
        [&] { return IndexMapObject{with_options(make(base.map), base.options), base.options}; });
  });
}
/// Splits concatenated lists by neighbor.
std::vector<NeighborCells> neighbor_cells(std::span<const int> ranks,
    std::span<const global_index> counts, std::span<const local_index> cells);
/// Throws Error without places.
const Places& placed(const IndexMap& map);

/// Replaces the domain by make(domain). Collective. Throws Error during an exchange.
template <class Check, class Make>
void change_map(IndexMapObject& object, const char* call, Check&& check, Make&& make) {
  const auto check_all = [&] {
    check();
    refuse_places(object.map.places());
    object.map.refuse_subset();
    if (object.map.under_way())
      refuse("an exchange of the map is under way: end it before the map gets further ghosts");
  };
  object.map = collective(object.communicator(), call, setup_limit(object.options), check_all,
      [&] { return IndexMap(make(object.domain()), object.options); });
}

/// Local cells of the ids that `read` returns, of which missing ones become ghosts. Collective.
template <class Read>
std::vector<local_index> localize_ids(IndexMapObject& object, const char* call, Read&& read) {
  Ids ids;
  std::vector<local_index> found;
  change_map(
      object, call, [&] { ids = read(); },
      [&](const IndexedDomain& domain) {
        auto [nodes, cells] = localize(ids, domain);
        found = std::move(cells);
        return std::move(nodes);
      });
  return found;
}
Ids ids_of(const IndexMap& map, std::span<const local_index> cells);

/// Owned values and, on the root, all cells and their number.
struct Transfer {
  CellValues owned, all;
  byte_count cells = 0;
};
/// Of the arrays of read(map). Collective.
template <class Read>
int transfer(phl_index_map map, const char* call, bool to_root, int root, Read&& read) {
  return with(map, [&](const IndexMapObject& object) {
    std::optional<Transfer> given;
    const auto checked = [&] { refuse_places(object.map.places()), given = read(object.map); };
    collective(object.communicator(), call, setup_limit(object.options), checked, [&] {
      (to_root ? &collate : &distribute)(object.domain(), root, given->all.owned, given->cells,
          given->owned.owned, given->owned.width());
    });
  });
}

struct GivenGrid {
  std::vector<global_index> extents;
  CartesianOptions options = {};
};
/// Of read(communicator). Collective.
template <class Comm, class Read>
int make_domain(Comm handle, const char* call, phl_cartesian* domain, Read&& read) {
  return guarded([&] {
    const Communicator comm(comm_of(handle));
    GivenGrid grid;
    create(
        comm, call, 0, domain, [&] { grid = read(comm); },
        [&] { return CartesianObject{{std::move(grid.extents), std::move(grid.options), comm}}; });
  });
}
/// A rule of enum phl_rank_order, or a table of ranks; both: Error.
RankOrder rank_order_from(int rule, std::vector<int> table);
/// Throws Error if this rank has no such block.
int block_of(const CartesianDomain& domain, int64_t block);

struct GivenGroup {
  Source source;
  std::vector<Field> fields;
  std::vector<MadeField> made = std::vector<MadeField>(fields.size(), MadeField{source});
};
GivenGroup group_of(const Source& source, const phl_field* given, int count, const char* name);
void require_groups(int count);
/// Detects `own_halo` without widths, a common mistake.
void require_some_halo(const std::vector<Group>& groups);
/// An exchange of the groups, or sums of points of the group, that `read` returns. Collective.
template <class Read>
void make_exchange(const Communicator& comm, const char* call, const phl_exchange_options* options,
    phl_exchange* exchange, Read&& read) {
  std::vector<Group> groups;
  std::vector<MadeField> made;
  const auto check = [&] {
    for (GivenGroup& group : read()) {
      made.insert(made.end(), group.made.begin(), group.made.end());
      groups.push_back(group.source.group(std::move(group.fields)));
    }
    require_some_halo(groups);
  };
  create(comm, call, limit_of(options), exchange, check, [&] {
    return ExchangeObject{{std::move(made)}, Exchange(std::move(groups), options_from(options))};
  });
}
template <class Read>
void make_point_sums(
    const Source& domain, const phl_exchange_options* options, phl_point_sums* sums, Read&& read) {
  std::optional<GivenGroup> given;
  create(
      domain.communicator(), "phl_point_sums_create", limit_of(options), sums,
      [&] { given = read(); },
      [&] {
        return PointSumsObject{{std::move(given->made)},
            {*domain.grid(), std::move(given->fields), options_from(options)}};
      });
}
void make_subset(phl_exchange whole, const Only& only, phl_exchange& subset);

/// Fortran uses the numbers.
enum class Call { forward = 0, begin, reverse, begin_reverse, check, retune, prepare };
void run(ExchangeObject& object, Call call, int reduction, const std::vector<Field>& fields);
/// Like phl_exchange_stale.
void tell_stale(ExchangeObject& object, const std::vector<Field>& fields, int64_t* counts,
    int32_t capacity, phl_stale_ghost* first, int32_t* told);
void reduce(PointSumsObject& object, bool begin, int reduction, const std::vector<Field>& fields);
using MoveCall = void (Redistribution::*)(std::span<const Move>);
/// At the first call, which is collective, all ranks report errors of `read`.
template <class Read>
void move(RedistributionObject& object, MoveCall call, Read&& read) {
  std::vector<Move> moves;
  const auto read_all = [&] { moves = read(); };
  if (object.called) read_all();
  else
    collective(object.from.communicator(),
        "forward, back or prepare, the first call of a redistribution", object.timeout_s, read_all,
        [] {});
  (object.redistribution.*call)(moves);
  object.called = true;
}
/// Turns HandleError into Error, which all ranks can report.
template <class Handle>
Source second(Handle to) {
  try {
    return Source(to);
  } catch (const HandleError& error) {
    refuse("the second domain: ", error.what());
  }
}
/// Between grids, with axes from 0 of `read_axes`, or maps. Collective.
template <class Handle, class Read>
int make_move(Handle from, Handle to, const phl_exchange_options* options,
    phl_redistribution* redistribution, Read&& read_axes) {
  return guarded([&] {
    const auto before = get(from);
    std::optional<Source> target;
    std::vector<int> axes;
    const auto check = [&] {
      target = second(to);
      axes = read_axes();
    };
    create(before->communicator(), "phl_redistribution_create", limit_of(options), redistribution,
        check, [&] {
          const auto made = [&](auto&&... and_axes) {
            return RedistributionObject{
                {before->domain(), get(to)->domain(), options_from(options), and_axes...},
                Source(from), *target, limit_of(options)};
          };
          if constexpr (std::is_same_v<Handle, phl_cartesian>) return made(axes);
          else return made();
        });
  });
}

/// A field and, on the root, the array of all its cells. Collective.
struct WholeGrid {
  Field field, whole;
};
template <class Read>
int move_whole(phl_cartesian domain, const char* call, bool to_root, int root, Read&& read) {
  return with(domain, [&](const CartesianObject& object) {
    WholeGrid given;
    collective(
        object.communicator(), call, 0, [&] { given = read(); },
        [&] {
          if (to_root) gather(object.grid, given.field, given.whole, root);
          else scatter(object.grid, given.whole, given.field, root);
        });
  });
}

/// Enumerations arrive as int: throw Error for invalid numbers.
Element element_from(phl_element element);
Reduction reduction_from(int number);
int make_reduction(Element element, phl_combine combine, void* context);
template <class Enumeration = int>
Enumeration in_range(int number, int last, const char* what) {
  if (number < 0 || number > last) refuse(what, " ", number, " does not exist: use 0 … ", last);
  return static_cast<Enumeration>(number);
}
/// Throws Error for negative widths.
HaloWidth width_from(const int32_t* lower, const int32_t* upper, int dimensions, const char* what);
Stagger stagger_from(const int32_t* along, int dimensions);
/// Ignores tile numbers if the grid has no tiles.
Seam seam_from(const phl_seam& given, bool has_tiles, int dimensions);

}  // namespace parhelion::c
