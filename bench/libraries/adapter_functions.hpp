// The C functions of a plug-in around a class with exchange(): no exception leaves it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include "adapter.h"

#define PHL_EXPORT extern "C" __attribute__((visibility("default"))) const phl_adapter_functions

/// Around what `make(described, variant)` returns with new.
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

    static constexpr phl_adapter_functions functions{PHL_ADAPTER_VERSION, make_adapter, exchange,
                                                     free, nullptr};
};

template <class Vector>
Vector* phl_make_vector(const phl_adapter_cells& cells, const char*) {
    return new Vector(cells);
}

/// Of vectors of a class with values(), too.
template <class Vector>
constexpr phl_adapter_functions phl_vector_functions() {
    using Made = PhlAdapter<phl_adapter_cells, phl_make_vector<Vector>>;
    phl_adapter_functions functions = Made::functions;
    functions.values = Made::values;
    return functions;
}
