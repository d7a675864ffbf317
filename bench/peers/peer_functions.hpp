// The C functions of a plug-in around a class of its own: no exception leaves it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>

#include "vector_peer.h"

/// What `make_new` returns; null with the reason in `error` where it throws.
template <class MakeNew>
void* phl_make_peer(char* error, int size, MakeNew&& make_new) {
    try {
        return make_new();
    } catch (const std::exception& failure) {
        std::snprintf(error, static_cast<std::size_t>(size), "%s", failure.what());
        return nullptr;
    }
}

template <class Peer>
int phl_exchange_of(void* peer) {
    try {
        static_cast<Peer*>(peer)->exchange();
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, PHL_PEER_VERSION ": %s\n", failure.what());
        return 1;
    }
}

template <class Peer>
void phl_free_peer(void* peer) {
    delete static_cast<Peer*>(peer);
}

/// Of vectors of a class with values() and exchange().
template <class Vector>
inline constexpr phl_vector_peer_functions phl_vectors_of{
    PHL_PEER_VERSION,
    [](const phl_peer_cells* cells, char* error, int size) {
        return phl_make_peer(error, size, [&] { return static_cast<void*>(new Vector(*cells)); });
    },
    [](void* peer) { return static_cast<double*>(static_cast<Vector*>(peer)->values()); },
    phl_exchange_of<Vector>, phl_free_peer<Vector>};
