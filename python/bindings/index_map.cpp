#include "parhelion/index_map/index_map.hpp"

#include <algorithm>
#include <deque>
#include <string_view>

#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/migration.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

// Whether elements are addresses of objects, or have some; names of members are between colons.
bool has_objects(std::string_view format) {
  bool in_name = false;
  return std::ranges::any_of(format, [&](char c) {
    in_name ^= c == ':';
    return c == 'O' && !in_name;
  });
}

// Other than native numbers, elements are opaque bytes.
Element element_of(const Buffer& buffer) {
#define PARHELION_FORMAT(name, NAME, bytes, format) {Scalar::name, format},
  static constexpr std::pair<Scalar, const char*> known[] = {PHL_SCALARS(PARHELION_FORMAT)};
#undef PARHELION_FORMAT
  for (const auto& [scalar, format] : known)
    if (equal_format(buffer.format(), format) && buffer->itemsize == size_of(scalar))
      return {scalar, static_cast<std::int32_t>(buffer->itemsize)};
  if (has_objects(buffer.format()))
    throw Error("an array has Python objects, which mean nothing on another rank: pass numbers",
        ErrorKind::type);
  return {Scalar::bytes, static_cast<std::int32_t>(buffer->itemsize)};
}

// The buffers of a call's arrays of a map, or of rows.
class SeenArrays {
 public:
  SeenArrays(const IndexMap& map, const nb::tuple& given, nb::object as_array)
      : map_(&map), as_array_(std::move(as_array)) {
    for (std::size_t i = 0; i < given.size(); ++i) add(given[i], "array " + std::to_string(i));
  }
  SeenArrays(std::size_t rows, const nb::tuple& given, nb::object as_array)
      : as_array_(std::move(as_array)) {
    for (std::size_t i = 0; i < given.size(); ++i)
      values_.push_back(see(given[i], static_cast<byte_count>(rows), "array " + std::to_string(i)));
  }
  const std::vector<CellValues>& values() const { return values_; }

 private:
  // Axes within a cell must be contiguous in C order.
  CellValues see(nb::handle object, byte_count cells, const std::string& name) {
    const Buffer& buffer = buffers_.emplace_back(object, name, as_array_, kept_);
    if (buffer->ndim < 1 || buffer->shape[0] != cells)
      throw Error(
          name + " has " +
          (buffer->ndim < 1 ? "no axis"
                            : std::to_string(buffer->shape[0]) + " cells along its first axis") +
          " and needs " + std::to_string(cells) + ": pass an array of that many");
    byte_count width = buffer->itemsize;
    for (int d = buffer->ndim - 1; d > 0; width *= buffer->shape[d--])
      if (buffer->shape[d] > 1 && cells > 0 && buffer->strides[d] != width)
        throw Error("the components of a cell of " + name +
                    " do not lie next to each other: pass a copy in C order, or each "
                    "component alone");
    if (width == 0) throw Error(name + " has no components: pass at least 1");
    return {{buffer.start(), buffer->strides[0]}, {}, element_of(buffer),
        static_cast<int>(width / buffer->itemsize)};
  }
  // Any strides. Reverses NumPy's axes: the fastest comes first.
  CellValues see_placed(nb::handle object, const std::string& name) {
    const Buffer& buffer = buffers_.emplace_back(object, name, as_array_, kept_);
    ArrayShape shape{buffer.start(), element_of(buffer), static_cast<std::size_t>(buffer->ndim)};
    if (shape.rank < 1 || shape.rank > shape.extents.size())
      throw Error(name + " has " + std::to_string(shape.rank) + " axes: pass 1 to " +
                  std::to_string(shape.extents.size()));
    for (std::size_t d = 0; d < shape.rank; ++d) {
      shape.extents[d] = buffer->shape[shape.rank - 1 - d];
      shape.strides[d] = buffer->strides[shape.rank - 1 - d];
    }
    return values_in(*map_->places(), shape);
  }
  void add(nb::handle given, const std::string& name) {
    if (map_->places()) return values_.push_back(see_placed(given, name));
    if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr()))
      return values_.push_back(see(given, map_->size(), name));
    if (const auto parts = nb::len(given); parts != 2)
      throw Error(name + " has " + std::to_string(parts) +
                  " parts: pass one array, or a pair of owned cells and ghosts");
    CellValues owned = see(nb::object(given[0]), map_->owned(), "owned of " + name);
    const CellValues ghosts = see(nb::object(given[1]), map_->ghosts(), "ghosts of " + name);
    if (!(owned.element == ghosts.element) || owned.components != ghosts.components)
      throw Error("the parts of " + name + " differ in dtype or components: make them equal");
    owned.ghosts = ghosts.owned;
    values_.push_back(owned);
  }

  const IndexMap* map_ = nullptr;
  nb::object as_array_;
  std::deque<Buffer> buffers_;
  nb::list kept_;
  std::vector<CellValues> values_;
};

// An index map for one thread at a time; others run meanwhile.
struct PythonMap : IndexMap {
  using IndexMap::IndexMap;
  explicit PythonMap(IndexMap map) : IndexMap(std::move(map)) {}
  Guard guard;

  template <class Work>
  auto with_arrays(const nb::tuple& given, const nb::object& as_array, Work&& work) {
    const Guard::Inside inside(guard);
    const SeenArrays arrays(*this, given, as_array);
    return unlocked([&] { return work(CellArrays(arrays.values())); });
  }
};

auto calling(auto (IndexMap::*call)(const CellArrays&) const) {
  return [call](PythonMap& map, const nb::tuple& given, const nb::object& as_array) {
    return map.with_arrays(
        given, as_array, [&](const CellArrays& arrays) { return (map.*call)(arrays); });
  };
}

auto combining(void (IndexMap::*combine)(const CellArrays&, Reduction) const) {
  return [combine](PythonMap& map, AnyReduction reduction, const nb::tuple& given,
             const nb::object& as_array) {
    const PassedReduction how(reduction);
    map.with_arrays(given, as_array,
        [&](const CellArrays& arrays) { (map.*combine)(arrays, how.reduction()); });
    how.rethrow();
  };
}

// One begun call of a map, which may have several under way.
class BegunOnMap final : public AnyExchange {
 public:
  template <class Begin>
  BegunOnMap(nb::handle map, Begin begin, nb::handle reduction, const nb::tuple& given,
      const nb::object& as_array)
      : AnyExchange(
            nb::borrow(map), {std::shared_ptr<void>(), &nb::inst_ptr<PythonMap>(map)->guard}) {
    const auto inside = enter();
    const PythonMap& of = *nb::inst_ptr<PythonMap>(map);
    const auto seen = std::make_shared<SeenArrays>(of, given, as_array);
    held_.more = seen;
    start(PassedReduction(reduction), {}, [&](Reduction how) {
      const CellArrays arrays(seen->values());
      if constexpr (std::is_invocable_v<Begin, const IndexMap&, const CellArrays&>)
        (of.*begin)(arrays);
      else (of.*begin)(arrays, how);
      return of.step(arrays);
    });
  }
};

auto beginning(auto begin) {
  return [begin](nb::handle_t<PythonMap> map, AnyReduction reduction, const nb::tuple& given,
             const nb::object& as_array) {
    return PythonStep(
        nb::borrow(map), std::make_shared<BegunOnMap>(map, begin, reduction, given, as_array));
  };
}

// `call` reads the mask, so that all ranks report errors.
template <class Call>
auto with_mask(PythonMap& map, const nb::tuple& given, const nb::object& as_array, Call&& call) {
  const Guard::Inside inside(map.guard);
  std::optional<SeenArrays> seen;
  const nb::gil_scoped_release released;
  return call([&] {
    const nb::gil_scoped_acquire held;
    try {
      return seen.emplace(map, given, as_array).values().at(0);
    } catch (nb::python_error& error) {
      throw Error(nb::str(error.value()).c_str(),
          error.matches(PyExc_TypeError) ? ErrorKind::type : ErrorKind::value);
    }
  });
}

// Clamps what does not fit to invalid cells or ranks.
std::vector<int> narrow(const Ids& values) {
  std::vector<int> narrowed;
  for (const std::int64_t value : span_of(values))
    narrowed.push_back(static_cast<int>(std::clamp<std::int64_t>(value, -2, INT32_MAX)));
  return narrowed;
}

struct PythonMigration {
  Migration migration;
  Guard guard;

  // Collective. Python has validated the arguments on all ranks. `make` returns arrays of so many
  // rows.
  nb::tuple send(const Ids& to, const nb::tuple& given, const std::string& kinds,
      const nb::object& as_array, const nb::callable& make) {
    const Guard::Inside inside(guard);
    const SeenArrays arrays(to.size(), given, as_array);
    const auto rows = unlocked([&] { return migration.send(narrow(to), arrays.values(), kinds); });
    const auto came = nb::cast<nb::tuple>(make(rows));
    migration.receive(SeenArrays(static_cast<std::size_t>(rows), came, as_array).values());
    return came;
  }
  Numpy<int> sources() const {
    guard.require_free();
    return to_numpy(migration.sources());
  }
};

using Numbers = Numpy<local_index>;
using RankList = std::pair<int, Ids>;
std::vector<NeighborCells> neighbor_cells(const std::vector<RankList>& lists) {
  std::vector<NeighborCells> all;
  for (const auto& [rank, cells] : lists) all.push_back({rank, narrow(cells)});
  return all;
}

}  // namespace

void bind_index_map(nb::module_& module) {
  nb::class_<PythonMap>(module, "IndexMap")
      .def(nb::init<const IndexedDomain&>(), "domain"_a, Unlocked())
      .def_static(
          "push",
          [](const IndexedDomain& owners, const Ids& cells, const Ids& ranks) {
            return PythonMap(IndexMap::push(owners, narrow(cells), narrow(ranks)));
          },
          "owners"_a, "cells"_a, "ranks"_a, Unlocked())
      .def_static(
          "ragged",
          [](const PythonMap& rows, const Ids& counts) {
            return PythonMap(IndexMap(ragged_domain(rows, span_of(counts))));
          },
          "rows"_a, "counts"_a, Unlocked())
      .def("prepare", calling(&IndexMap::prepare), "arrays"_a, "as_array"_a)
      .def("prepare_shared", calling(&IndexMap::prepare_shared), "arrays"_a, "as_array"_a)
      .def_static(
          "from_neighbor_lists",
          [](const Communicator& comm, const std::vector<RankList>& lists,
              const std::optional<std::vector<RankList>>& received,
              std::vector<global_index> extents, int components_at) {
            const Places places{{}, {}, std::move(extents), components_at};
            return PythonMap(
                received ? IndexMap::from_neighbor_lists(
                               neighbor_cells(lists), neighbor_cells(*received), comm, places)
                         : IndexMap::from_neighbor_lists(neighbor_cells(lists), comm, places));
          },
          "comm"_a, "lists"_a, "received"_a, "extents"_a, "components_at"_a, Unlocked())
      .def(
          "placed",
          [](const PythonMap& map, const Ids& owned, const Ids& ghosts,
              std::vector<global_index> extents, int components_at) {
            return PythonMap(
                map.placed({narrow(owned), narrow(ghosts), std::move(extents), components_at}));
          },
          "owned"_a, "ghosts"_a, "extents"_a, "components_at"_a, Unlocked())
      .def("forward", calling(&IndexMap::forward), "arrays"_a, "as_array"_a)
      .def("reverse", combining(&IndexMap::reverse), "reduction"_a, "arrays"_a, "as_array"_a)
      .def("reduce_shared", combining(&IndexMap::reduce_shared), "reduction"_a, "arrays"_a,
          "as_array"_a)
      .def("begin_forward", beginning(&IndexMap::begin_forward), "reduction"_a, "arrays"_a,
          "as_array"_a)
      .def("begin_reverse", beginning(&IndexMap::begin_reverse), "reduction"_a, "arrays"_a,
          "as_array"_a)
      .def("begin_reduce_shared", beginning(&IndexMap::begin_reduce_shared), "reduction"_a,
          "arrays"_a, "as_array"_a)
      .def(
          "only",
          [](PythonMap& map, const nb::tuple& mask, const nb::object& as_array) {
            return with_mask(map, mask, as_array,
                [&](const IndexMap::ReadMask& read) { return PythonMap(map.only(read)); });
          },
          "mask"_a, "as_array"_a)
      .def(
          "update",
          [](PythonMap& map, const nb::tuple& mask, const nb::object& as_array) {
            with_mask(
                map, mask, as_array, [&](const IndexMap::ReadMask& read) { map.update(read); });
          },
          "mask"_a, "as_array"_a)
      .def("explain_shared", calling(&IndexMap::explain_shared), "arrays"_a, "as_array"_a)
      .def("places",
          [](const PythonMap& map) -> std::optional<std::pair<Numbers, Numbers>> {
            if (!map.places()) return {};
            return std::pair(to_numpy(map.places()->owned), to_numpy(map.places()->ghosts));
          })
      .def_prop_ro("domain", [](const PythonMap& map) { return IndexedDomain(map.domain()); })
      .def_prop_ro("pattern", [](const PythonMap& map) { return Pattern(map.pattern()); });
  nb::class_<PythonMigration>(module, "Migration")
      .def(
          "__init__",
          [](PythonMigration* made, const Communicator& comm) {
            new (made) PythonMigration{Migration(comm), {}};
          },
          "comm"_a)
      .def("send", &PythonMigration::send, "ranks"_a, "arrays"_a, "kinds"_a, "as_array"_a, "make"_a)
      .def("sources", &PythonMigration::sources);
}

}  // namespace parhelion::python
