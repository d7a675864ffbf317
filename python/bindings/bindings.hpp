// Nanobind, conversions, and the functions that fill the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <memory>
#include <string_view>

#include "parhelion/pattern/pattern.hpp"
#include "parhelion/redistribution/redistribution.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nanobind::detail {
using namespace parhelion;

/// Structures cross as tuples of members, enumerations in them as numbers.
template <class T, auto... members>
struct Members {
  template <auto member>
  using Type = std::decay_t<decltype(std::declval<T>().*member)>;
  template <class Member>
  using Crossing = typename std::conditional_t<std::is_enum_v<Member>, std::underlying_type<Member>,
      std::type_identity<Member>>::type;
  using All = std::tuple<Crossing<Type<members>>...>;
  NB_TYPE_CASTER(T, make_caster<All>::Name)

  bool from_python(handle given, std::uint8_t flags, cleanup_list* cleanup) noexcept {
    make_caster<All> all;
    if (!all.from_python(given, flags, cleanup)) return false;
    std::apply([&](auto... each) { ((value.*members = static_cast<Type<members>>(each)), ...); },
        static_cast<All>(all));
    return true;
  }
  static handle from_cpp(const T& from, rv_policy policy, cleanup_list* cleanup) noexcept {
    return make_caster<All>::from_cpp(
        All(static_cast<Crossing<Type<members>>>(from.*members)...), policy, cleanup);
  }
};

#define PARHELION_CROSSES(T, ...) \
  template <> \
  struct type_caster<T> : Members<T, __VA_ARGS__> {};
PARHELION_CROSSES(Axis, &Axis::starts, &Axis::periodic)
PARHELION_CROSSES(Box, &Box::lo, &Box::hi)
PARHELION_CROSSES(Block, &Block::owned, &Block::held, &Block::position)
PARHELION_CROSSES(BoxPiece, &BoxPiece::block, &BoxPiece::cells)
PARHELION_CROSSES(HaloWidth, &HaloWidth::lower, &HaloWidth::upper, &HaloWidth::listed)
PARHELION_CROSSES(Move, &Move::from, &Move::to)
PARHELION_CROSSES(Periodicity, &Periodicity::along, &Periodicity::listed)
PARHELION_CROSSES(RankOrder, &RankOrder::fill, &RankOrder::ranks)
PARHELION_CROSSES(TileSide, &TileSide::axis, &TileSide::side, &TileSide::tile)
PARHELION_CROSSES(Seam, &Seam::from, &Seam::to, &Seam::axes, &Seam::backward, &Seam::pivot)
PARHELION_CROSSES(StaleGhost, &StaleGhost::field, &StaleGhost::owner, &StaleGhost::cell,
    &StaleGhost::component, &StaleGhost::here, &StaleGhost::there, &StaleGhost::text)
PARHELION_CROSSES(StaleGhosts, &StaleGhosts::count, &StaleGhosts::first)
PARHELION_CROSSES(Stagger, &Stagger::along)
using Grid = CartesianOptions;
PARHELION_CROSSES(Grid, &Grid::halo, &Grid::periodic, &Grid::process_grid, &Grid::splits,
    &Grid::blocks_per_rank, &Grid::neighbors, &Grid::algorithm, &Grid::rank_order, &Grid::boundary,
    &Grid::seams, &Grid::tile_axis)
#undef PARHELION_CROSSES

}  // namespace nanobind::detail

namespace parhelion::python {

void bind_domains(nb::module_& module);
void bind_exchange(nb::module_& module);
void bind_index_map(nb::module_& module);
void bind_sums_and_moves(nb::module_& module);

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// Without the interpreter's lock.
template <class Work>
auto unlocked(Work&& work) {
  const nb::gil_scoped_release released;
  return work();
}

template <class Range, class Each>
nb::list list_of(const Range& range, Each&& each) {
  nb::list all;
  for (const auto& one : range) all.append(each(one));
  return all;
}

template <class T>
using Numpy = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
/// Arguments from Python: contiguous, read only, not kept.
template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = Given<global_index>;
using Cells = Given<local_index>;

/// A NumPy array whose base owns the memory.
template <class T, class Owner>
Numpy<T> numpy_of(T* first, std::size_t count, Owner owner) {
  auto* const holder = new Owner(std::move(owner));
  const nb::capsule base(holder, [](void* held) noexcept { delete static_cast<Owner*>(held); });
  return Numpy<T>(first, {count}, base);
}

template <class T>
Numpy<T> to_numpy(std::vector<T> values) {
  T* const first = values.data();
  const std::size_t count = values.size();
  return numpy_of(first, count, std::move(values));
}

template <class T>
std::span<const T> span_of(const Given<T>& values) {
  return {values.data(), values.size()};
}

template <class T>
std::vector<T> vector_of(const Given<T>& values) {
  return {values.data(), values.data() + values.size()};
}

/// The writable buffer of a Python object; false if it has none.
class Buffer {
 public:
  explicit Buffer(nb::handle object) { look(object); }
  /// Without a buffer, or with a mask: that of a NumPy array made from it and kept in `made`.
  /// Throws Error if that has none either.
  Buffer(nb::handle object, const std::string& name, nb::list& made, bool on_device = false) {
    static constinit nb::handle masked;  // a guarded import would block threads with the lock
    if (!masked.is_valid())
      masked = nb::object(nb::module_::import_("numpy.ma").attr("MaskedArray")).release();
    const auto type_of = [](nb::handle type) {
      return reinterpret_cast<PyTypeObject*>(type.ptr());
    };
    if (!PyType_IsSubtype(type_of(object.type()), type_of(masked)) && look(object)) return;
    made.append(nb::module_::import_("parhelion.domain.fields")
            .attr("callable_array")(object, name, on_device));
    if (!look(made[made.size() - 1]))
      throw Error(name + " exposes no memory: pass a NumPy array", ErrorKind::type);
  }
  ~Buffer() {
    if (there_) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  explicit operator bool() const { return there_; }
  const Py_buffer* operator->() const { return &view_; }
  const char* format() const { return view_.format != nullptr ? view_.format : "B"; }
  std::byte* start() const { return static_cast<std::byte*>(view_.buf); }

 private:
  bool look(nb::handle object) {
    there_ = PyObject_GetBuffer(
                 object.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) == 0;
    if (!there_) PyErr_Clear();
    if (there_ && view_.ndim > 0 && view_.strides == nullptr) {  // ctypes leaves them out
      PyBuffer_Release(&view_);
      there_ = false;
    }
    return there_;
  }

  Py_buffer view_{};
  bool there_ = false;
};

/// Equates both codes of C's 64-bit integers, and marked native order with unmarked.
inline bool equal_format(std::string_view a, std::string_view b) {
  constexpr std::string_view native = std::endian::native == std::endian::little ? "<=@" : ">=@";
  for (auto* each : {&a, &b})
    if (!each->empty() && native.find(each->front()) != native.npos) each->remove_prefix(1);
  const auto plain = [](char c) { return c == 'q' ? 'l' : c == 'Q' ? 'L' : c; };
  return a == b || (a.size() == 1 && b.size() == 1 && plain(a[0]) == plain(b[0]));
}

}  // namespace parhelion::python
