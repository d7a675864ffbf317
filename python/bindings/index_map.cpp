#include "parhelion/index_map/index_map.hpp"

#include <algorithm>
#include <deque>

#include "parhelion/index_map/derive.hpp"
#include "parhelion/index_map/migration.hpp"
#include "python_exchange.hpp"

namespace parhelion::python {
namespace {

// Whether elements are, or contain, addresses of objects; names of members are between colons.
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
  const auto size = static_cast<std::int32_t>(buffer->itemsize);
  for (const auto& [scalar, format] : known)
    if (equal_format(buffer.format(), format) && size == size_of(scalar)) return {scalar, size};
  if (has_objects(buffer.format()))
    throw Error("an array has Python objects, which mean nothing on another rank: pass numbers",
        ErrorKind::type);
  return {Scalar::bytes, size};
}

// The buffers of a call's arrays, of a map or of rows.
class SeenArrays {
 public:
  SeenArrays(const nb::tuple& given, const IndexMap* map, byte_count rows = 0) {
    values_.reserve(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string name = "array " + std::to_string(i);
      values_.push_back(map == nullptr  ? see(given[i], rows, name)
                        : map->places() ? see_placed(*map->places(), given[i], name)
                                        : see_cells(*map, given[i], name));
    }
  }
  const std::vector<CellValues>& values() const { return values_; }

 private:
  // Axes within a cell must be contiguous in C order.
  CellValues see(nb::handle object, byte_count cells, const std::string& name) {
    const Buffer& buffer = buffers_.emplace_back(object, name, kept_);
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
                    " are not contiguous: pass a copy in C order, or each "
                    "component alone");
    if (width == 0) throw Error(name + " has no components: pass at least 1");
    return {{buffer.start(), buffer->strides[0]}, {}, element_of(buffer),
        static_cast<int>(width / buffer->itemsize)};
  }
  // Any strides. Reverses NumPy's axes: the fastest comes first.
  CellValues see_placed(const Places& places, nb::handle object, const std::string& name) {
    const Buffer& buffer = buffers_.emplace_back(object, name, kept_);
    ArrayShape shape{buffer.start(), element_of(buffer), static_cast<std::size_t>(buffer->ndim)};
    if (shape.rank < 1 || shape.rank > shape.extents.size())
      throw Error(name + " has " + std::to_string(shape.rank) + " axes: pass 1 to " +
                  std::to_string(shape.extents.size()));
    std::reverse_copy(buffer->shape, buffer->shape + shape.rank, shape.extents.begin());
    std::reverse_copy(buffer->strides, buffer->strides + shape.rank, shape.strides.begin());
    return values_in(places, shape);
  }
  CellValues see_cells(const IndexMap& map, nb::handle given, const std::string& name) {
    if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr()))
      return see(given, map.size(), name);
    if (const auto parts = nb::len(given); parts != 2)
      throw Error(name + " has " + std::to_string(parts) +
                  " parts: pass one array, or a pair of owned cells and ghosts");
    CellValues owned = see(nb::object(given[0]), map.owned(), "owned of " + name);
    const CellValues ghosts = see(nb::object(given[1]), map.ghosts(), "ghosts of " + name);
    if (!(owned.element == ghosts.element) || owned.components != ghosts.components)
      throw Error("the parts of " + name + " differ in dtype or components: make them equal");
    owned.ghosts = ghosts.owned;
    return owned;
  }

  std::deque<Buffer> buffers_;
  nb::list kept_;
  std::vector<CellValues> values_;
};

// An index map for one thread at a time; others run meanwhile.
struct PythonMap : IndexMap {
  using IndexMap::IndexMap;
  explicit PythonMap(IndexMap map) : IndexMap(std::move(map)) {}
  Guard guard;
};

// Calls of maps take arrays, and perhaps a reduction.
template <class>
using Passed = AnyReduction;

template <class Result, class... How>
auto calling(Result (IndexMap::*call)(const CellArrays&, How...) const) {
  return [call](PythonMap& map, const nb::tuple& given, Passed<How>... reduction) {
    const PassedReduction how(reduction...);
    const Guard::Inside inside(map.guard);
    const SeenArrays arrays(given, &map);
    const auto run = [&] {
      return (map.*call)(arrays.values(), static_cast<How>(how.reduction())...);
    };
    if constexpr (sizeof...(How) == 0) return unlocked(run);
    else unlocked(run), how.rethrow();
  };
}

// One begun call of a map, which may have several under way.
class BegunOnMap final : public AnyExchange {
 public:
  template <class Begin>
  BegunOnMap(nb::handle map, const nb::tuple& given, PassedReduction how, Begin&& begin)
      : AnyExchange(
            nb::borrow(map), {std::shared_ptr<void>(), &nb::inst_ptr<PythonMap>(map)->guard}) {
    const auto inside = enter();
    const PythonMap& of = *nb::inst_ptr<PythonMap>(map);
    const auto seen = std::make_shared<SeenArrays>(given, &of);
    held_.more = seen;
    start(std::move(how), {}, [&](Reduction reduction) {
      begin(of, seen->values(), reduction);
      return of.step(seen->values());
    });
  }
};

template <class... How>
auto beginning(void (IndexMap::*begin)(const CellArrays&, How...) const) {
  return [begin](nb::handle_t<PythonMap> map, const nb::tuple& given, Passed<How>... reduction) {
    return PythonStep(nb::borrow(map),
        std::make_shared<BegunOnMap>(map, given, PassedReduction(reduction...),
            [&](const IndexMap& of, const CellArrays& arrays, [[maybe_unused]] Reduction how) {
              (of.*begin)(arrays, static_cast<How>(how)...);
            }));
  };
}

// `call` reads the mask, so that all ranks report errors.
auto masking(auto call) {
  return [call](PythonMap& map, const nb::tuple& mask) {
    const Guard::Inside inside(map.guard);
    std::optional<SeenArrays> seen;
    const nb::gil_scoped_release released;
    return call(map, [&] {
      const nb::gil_scoped_acquire held;
      try {
        const CellValues read = seen.emplace(mask, &map).values().at(0);
        if (read.element.scalar == Scalar::bytes && read.element.size > 1)
          throw Error("a mask: pass one integer or bool per cell", ErrorKind::type);
        return read;
      } catch (nb::python_error& error) {
        throw Error(nb::str(error.value()).c_str(),
            error.matches(PyExc_TypeError) ? ErrorKind::type : ErrorKind::value);
      }
    });
  };
}

struct PythonMigration : Migration {
  using Migration::Migration;
  Guard guard;

  // Collective. Python has validated the arguments on all ranks. `make` returns arrays of that many
  // rows.
  nb::tuple send(
      const Cells& to, const nb::tuple& given, const std::string& kinds, const nb::callable& make) {
    const Guard::Inside inside(guard);
    const SeenArrays arrays(given, nullptr, static_cast<byte_count>(to.size()));
    const auto rows =
        unlocked([&] { return Migration::send(span_of(to), arrays.values(), kinds); });
    const auto came = nb::cast<nb::tuple>(make(rows));
    receive(SeenArrays(came, nullptr, rows).values());
    return came;
  }
  Numpy<int> sources() const {
    guard.require_free();
    return to_numpy(Migration::sources());
  }
};

using Lists = std::vector<std::pair<int, Cells>>;
std::vector<NeighborCells> neighbor_cells(const Lists& lists) {
  std::vector<NeighborCells> all;
  for (const auto& [rank, cells] : lists) all.push_back({rank, vector_of(cells)});
  return all;
}

PythonMap from_neighbor_lists(const Communicator& comm, const Lists& lists,
    const std::optional<Lists>& received, std::vector<global_index> extents, int components_at) {
  const Places places{{}, {}, std::move(extents), components_at};
  const auto sent = neighbor_cells(lists);
  return PythonMap(
      received ? IndexMap::from_neighbor_lists(sent, neighbor_cells(*received), comm, places)
               : IndexMap::from_neighbor_lists(sent, comm, places));
}

}  // namespace

void bind_index_map(nb::module_& module) {
  nb::class_<PythonMap>(module, "IndexMap")
      .def(nb::init<const IndexedDomain&>(), Unlocked())
      .def_static(
          "push",
          [](const IndexedDomain& owners, const Cells& cells, const Cells& ranks) {
            return PythonMap(IndexMap::push(owners, span_of(cells), span_of(ranks)));
          },
          Unlocked())
      .def_static(
          "ragged",
          [](const PythonMap& rows, const Ids& counts) {
            return PythonMap(ragged_domain(rows, span_of(counts)));
          },
          Unlocked())
      .def_static("from_neighbor_lists", &from_neighbor_lists, Unlocked())
      .def(
          "placed",
          [](const PythonMap& map, const Cells& owned, const Cells& ghosts,
              std::vector<global_index> extents, int components_at) {
            return PythonMap(map.placed(
                {vector_of(owned), vector_of(ghosts), std::move(extents), components_at}));
          },
          Unlocked())
      .def("prepare", calling(&IndexMap::prepare))
      .def("prepare_shared", calling(&IndexMap::prepare_shared))
      .def("forward", calling(&IndexMap::forward))
      .def("reverse", calling(&IndexMap::reverse))
      .def("reduce_shared", calling(&IndexMap::reduce_shared))
      .def("explain_shared", calling(&IndexMap::explain_shared))
      .def("begin_forward", beginning(&IndexMap::begin_forward))
      .def("begin_reverse", beginning(&IndexMap::begin_reverse))
      .def("begin_reduce_shared", beginning(&IndexMap::begin_reduce_shared))
      .def("only", masking([](const PythonMap& map, const IndexMap::ReadMask& read) {
        return PythonMap(map.only(read));
      }))
      .def("update",
          masking([](const PythonMap& map, const IndexMap::ReadMask& read) { map.update(read); }))
      .def("places",
          [](const PythonMap& map) -> std::optional<std::pair<Numpy<int>, Numpy<int>>> {
            if (!map.places()) return {};
            return std::pair(to_numpy(map.places()->owned), to_numpy(map.places()->ghosts));
          })
      .def_prop_ro("domain", &PythonMap::domain, nb::rv_policy::copy)
      .def_prop_ro("pattern", &PythonMap::pattern, nb::rv_policy::copy);
  nb::class_<PythonMigration>(module, "Migration")
      .def(nb::init<Communicator>())
      .def("send", &PythonMigration::send)
      .def("sources", &PythonMigration::sources);
}

}  // namespace parhelion::python
