/* What a plug-in with another library's halo exchange offers, and what phl-bench gives it. Plain C:
 * the plug-in is a project of its own, built with the flags and the standard that its library
 * wants. */
#pragma once

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One block per rank in three dimensions, dimension 0 fastest in memory; all 26 neighbors. */
typedef struct phl_peer_halo {
    MPI_Comm comm;
    int element_bytes;  /* 4 or 8 */
    int rank_of_block;  /* also the block's number */
    int first[3];       /* of the owned cells, in the whole grid */
    int extent[3];      /* owned cells */
    int grid[3];        /* blocks per dimension */
    int rank_stride[3]; /* between blocks that follow each other along a dimension */
    int position[3];    /* of this block in the grid of blocks */
    int periodic[3];
    int halo;
    int fields;
    void* const*
        arrays; /* one per field, halo included; owned by the caller, in place until free */
} phl_peer_halo;

/* `variant` is a word of the plug-in's. Collective. Null with a message in `error` (of `size`
 * bytes) when it cannot. */
typedef void* (*phl_peer_make)(const phl_peer_halo* halo, const char* variant, char* error,
                               int size);
/* One whole exchange; not 0 with an error on standard error when it fails. */
typedef int (*phl_peer_exchange)(void* peer);
typedef void (*phl_peer_free)(void* peer);

/* A plug-in's one symbol, phl_halo_peer. */
typedef struct phl_halo_peer_functions {
    const char* version; /* of the library, such as "GHEX 0.9.0" */
    phl_peer_make make;
    phl_peer_exchange exchange;
    phl_peer_free free;
} phl_halo_peer_functions;

#ifdef __cplusplus
}
#endif
