// A plug-in's C functions around a class with exchange(); they let no exception escape.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include "adapter.h"

#define PHL_EXPORT extern "C" __attribute__((visibility("default"))) const phl_adapter_functions

/// Functions for the object that `make(described, variant)` returns, made with new.
template <class Described, auto make>
struct PhlAdapter {
  using Adapter = std::remove_pointer_t<decltype(make(std::declval<const Described&>(), ""))>;

  static void* make_adapter(const void* described, const char* variant, char* error, int size) {
    try {
      return make(*static_cast<const Described*>(described), variant);
    } catch (const std::exception& failure) {
      std::snprintf(error, static_cast<std::size_t>(size), "%s", failure.what());
      return nullptr;
    }
  }
  static int exchange(void* adapter) {
    try {
      static_cast<Adapter*>(adapter)->exchange();
      return 0;
    } catch (const std::exception& failure) {
      std::fprintf(stderr, PHL_ADAPTER_VERSION ": %s\n", failure.what());
      return 1;
    }
  }
  static void free(void* adapter) { delete static_cast<Adapter*>(adapter); }
  static double* values(void* adapter) { return static_cast<Adapter*>(adapter)->values(); }

  static constexpr phl_adapter_functions functions{
      PHL_ADAPTER_VERSION, make_adapter, exchange, free, nullptr};
};

template <class Vector>
Vector* phl_make_vector(const phl_adapter_cells& cells, const char*) {
  return new Vector(cells);
}

/// Functions for a vector class, which also has values().
template <class Vector>
constexpr phl_adapter_functions phl_vector_functions() {
  using Made = PhlAdapter<phl_adapter_cells, phl_make_vector<Vector>>;
  phl_adapter_functions functions = Made::functions;
  functions.values = Made::values;
  return functions;
}
