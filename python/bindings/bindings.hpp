// Nanobind, conversions, and the functions that fill the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string_view>

#include "parhelion/core/error.hpp"
#include "parhelion/domain/box.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace parhelion::python {

void bind_communicator(nb::module_& module);
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

using IntList = const std::vector<int>&;
using Ints = nb::typed<nb::tuple, int, nb::ellipsis>;
using Flags = nb::typed<nb::tuple, bool, nb::ellipsis>;
using Sides = nb::typed<nb::tuple, nb::typed<nb::tuple, int, int>,
    nb::ellipsis>;                                 ///< (lower, upper) per dimension
using Corners = nb::typed<nb::tuple, Ints, Ints>;  ///< (first, …), (past the end, …)

template <class Each>
nb::tuple tuple_of(int count, Each&& each) {
  nb::list all;
  for (int i = 0; i < count; ++i) all.append(each(static_cast<std::size_t>(i)));
  return nb::tuple(all);
}

template <class Range, class Each>
nb::list list_of(const Range& range, Each&& each) {
  nb::list all;
  for (const auto& one : range) all.append(each(one));
  return all;
}

inline nb::tuple corners_of(const Box& box, int dimensions) {
  const auto along = [=](const auto& cell) {
    return tuple_of(dimensions, [&](std::size_t d) { return cell[d]; });
  };
  return nb::make_tuple(along(box.lo), along(box.hi));
}

/// (lower, upper) per dimension; missing ones have no halo.
using GivenSides = const std::vector<std::pair<int, int>>&;
inline HaloWidth halo_from(GivenSides sides) {
  HaloWidth width(0);
  for (std::size_t d = 0; d < std::min<std::size_t>(sides.size(), max_dimensions); ++d)
    width.lower[d] = sides[d].first, width.upper[d] = sides[d].second;
  return width;
}

inline Stagger stagger_from(IntList along) {
  Stagger stagger;
  for (std::size_t d = 0; d < std::min<std::size_t>(along.size(), max_dimensions); ++d)
    stagger.along[d] =
        static_cast<std::int16_t>(std::clamp(along[d], -2, 1000));  // invalid stays invalid
  return stagger;
}

template <class T>
using Numpy = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
/// Arguments from Python: contiguous, read only, not kept.
template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = Given<std::int64_t>;

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
std::vector<T> vector_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// The writable buffer of a Python object; false if it has none.
class Buffer {
 public:
  explicit Buffer(nb::handle object) { look(object); }
  /// Without a buffer, or with a mask: the NumPy array of `as_array`, which `made` keeps. Throws
  /// Error if that has none either.
  Buffer(nb::handle object, const std::string& name, const nb::object& as_array, nb::list& made) {
    static constinit nb::handle masked;  // a guarded import would block threads with the lock
    if (!masked.is_valid())
      masked = nb::object(nb::module_::import_("numpy.ma").attr("MaskedArray")).release();
    const auto type_of = [](nb::handle type) {
      return reinterpret_cast<PyTypeObject*>(type.ptr());
    };
    if (!PyType_IsSubtype(type_of(object.type()), type_of(masked)) && look(object)) return;
    made.append(as_array(object, name));
    if (!look(made[made.size() - 1]))
      throw Error(name + " shows no memory: pass a NumPy array", ErrorKind::type);
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
