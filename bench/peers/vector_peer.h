/* What a plug-in offers with another library's distributed vectors and their ghost update, and what
 * phl-bench gives it: see halo_peer.h. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned cells in blocks, in rank order; ghosts in ascending order of their ids, which count from 0.
 */
typedef struct phl_peer_cells {
    MPI_Comm comm;
    int32_t owned, ghosts;
    const int64_t* ghost_ids; /* these two have an entry per ghost and live until make returns */
    const int32_t* ghost_owners;
    int components;
} phl_peer_cells;

/* A plug-in's symbol phl_vector_peer. `make` is collective: null with a message in `error` (of
 * `size` bytes) when it cannot. */
typedef struct phl_vector_peer_functions {
    const char* version;
    void* (*make)(const phl_peer_cells* cells, char* error, int size);
    double* (*values)(void* peer); /* owned cells, then ghosts; they live until free */
    int (*exchange)(void* peer);   /* one whole update, owner to ghost; not 0 when it fails */
    void (*free)(void* peer);
} phl_vector_peer_functions;

#ifdef __cplusplus
}
#endif
