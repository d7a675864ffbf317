// The C functions of a plug-in around a class with exchange(): no exception leaves it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include "peer.h"

#define PHL_EXPORT extern "C" __attribute__((visibility("default"))) const phl_peer_functions

/// Around what `make(described, variant)` returns with new.
template <class Described, auto make>
struct PhlPeer {
    using Peer = std::remove_pointer_t<decltype(make(std::declval<const Described&>(), ""))>;

    static void* make_peer(const void* described, const char* variant, char* error, int size) {
        try {
            return make(*static_cast<const Described*>(described), variant);
        } catch (const std::exception& failure) {
            std::snprintf(error, static_cast<std::size_t>(size), "%s", failure.what());
            return nullptr;
        }
    }
    static int exchange(void* peer) {
        try {
            static_cast<Peer*>(peer)->exchange();
            return 0;
        } catch (const std::exception& failure) {
            std::fprintf(stderr, PHL_PEER_VERSION ": %s\n", failure.what());
            return 1;
        }
    }
    static void free(void* peer) { delete static_cast<Peer*>(peer); }
    static double* values(void* peer) { return static_cast<Peer*>(peer)->values(); }

    static constexpr phl_peer_functions functions{PHL_PEER_VERSION, make_peer, exchange, free,
                                                  nullptr};
};

template <class Vector>
Vector* phl_make_vector(const phl_peer_cells& cells, const char*) {
    return new Vector(cells);
}

/// Of vectors of a class with values(), too.
template <class Vector>
constexpr phl_peer_functions phl_vector_functions() {
    using Made = PhlPeer<phl_peer_cells, phl_make_vector<Vector>>;
    phl_peer_functions functions = Made::functions;
    functions.values = Made::values;
    return functions;
}
