/* What a plug-in with another library's gather offers, and what phl-bench gives it: see
 * halo_peer.h. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned cells in blocks, in rank order; ghosts in ascending order of their ids, which count from 0.
 */
typedef struct phl_peer_gather {
    MPI_Comm comm;
    int64_t first; /* id of the first owned cell */
    int32_t owned, ghosts;
    const int64_t* ghost_ids; /* these three have an entry per ghost and live until make returns */
    const int32_t* ghost_owners;
    const int32_t* ghost_cells; /* place in the owner's block */
    const char* element;        /* "int32", "float64", … */
    int components;
    void* cells; /* owned by the caller, in place until free */
    void* ghost_values;
} phl_peer_gather;

/* `variant` is a word of the plug-in's. Collective. Null with a message in `error` (of `size`
 * bytes) when it cannot. */
typedef void* (*phl_peer_make_gather)(const phl_peer_gather* gather, const char* variant,
                                      char* error, int size);

/* A plug-in's one symbol, phl_gather_peer. `exchange` is one whole gather; not 0 when it fails. */
typedef struct phl_gather_peer_functions {
    const char* version;
    phl_peer_make_gather make;
    int (*exchange)(void* peer);
    void (*free)(void* peer);
} phl_gather_peer_functions;

#ifdef __cplusplus
}
#endif
