// Exceptions never cross into C: each becomes a status and a message.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/concat.hpp"

namespace parhelion::c {

/// Stores the current exception's message for phl_last_error; returns its status.
int report_exception() noexcept;

template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return report_exception();
  }
}

void require_output(const void* pointer, const std::string& name);
/// Throws Error if `count` is negative, or positive with a null pointer.
void require_array(const void* pointer, std::int64_t count, const char* name);
void require_dimensions(int dimensions);

/// Throws Error unless number is 0 to `last`; enumerations arrive as int.
template <class Enumeration = int>
Enumeration in_range(int number, int last, const char* what) {
  if (number < 0 || number > last) refuse(what, " ", number, " does not exist: use 0 … ", last);
  return static_cast<Enumeration>(number);
}

/// Entries of an argument, after require_array.
template <class T>
struct List : std::span<const T> {
  List(const T* first, std::int64_t count, const char* name)
      : std::span<const T>((require_array(first, count, name), first), count) {}
  operator std::vector<T>() const { return {this->begin(), this->end()}; }
};

/// Null texts are empty.
inline const char* or_empty(const char* text) { return text ? text : ""; }
template <class T>
T or_empty(T value) {
  return value;
}

/// Does nothing for null.
template <class T>
void put(T* place, std::type_identity_t<T> value) {
  if (place) *place = value;
}
template <class Values, class T>
void put_all(T* place, const Values& values) {
  if (place) std::ranges::copy(values, place);
}

}  // namespace parhelion::c
