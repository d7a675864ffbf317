// Exceptions never cross into C: each becomes a status and a message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/concat.hpp"

namespace parhelion::c {

/// A handle that is null, freed, or of another kind.
class HandleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Stores the current exception's message for phl_last_error; returns its status.
int report_exception() noexcept;

template <class Work>
int guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return 0;
  } catch (...) {
    return report_exception();
  }
}

/// Throws Error if `count` is negative, or positive with a null pointer.
void require_array(const void* pointer, std::int64_t count, const char* name);
void require_output(const void* pointer, const std::string& name);

/// Does nothing for null.
template <class T>
void put(T* place, std::type_identity_t<T> value) {
  if (place != nullptr) *place = value;
}
template <class Values, class T>
void put_all(T* place, const Values& values) {
  if (place != nullptr) std::ranges::copy(values, place);
}

}  // namespace parhelion::c
