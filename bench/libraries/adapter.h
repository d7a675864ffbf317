/* What a plug-in with another library's exchange offers, and what phl-bench gives it. Plain C: the
 * plug-in is a project of its own, built with the flags and the standard that its library wants. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A halo exchange: one block per rank in three dimensions, dimension 0 fastest in memory; all 26
 * neighbors. */
typedef struct phl_adapter_halo {
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
    void* const* arrays; /* one per field, halo included; the caller's, in place until free */
} phl_adapter_halo;

/* A gather, or a distributed vector. Owned cells in blocks, in rank order; ghosts in ascending
 * order of their ids, which count from 0. */
typedef struct phl_adapter_cells {
    MPI_Comm comm;
    int32_t owned, ghosts;
    const int64_t* ghost_ids; /* these three have an entry per ghost and live until make returns */
    const int32_t* ghost_owners;
    const int32_t* ghost_cells; /* place in the owner's block; null for vectors */
    const char* element;        /* "int32", "float64", ... */
    int components;
    void* cells; /* the caller's, in place until free; null for vectors, which have their own */
    void* ghost_values;
} phl_adapter_cells;

/* A plug-in's symbols: phl_halo_adapter of a phl_adapter_halo, phl_gather_adapter and
 * phl_vector_adapter of phl_adapter_cells. */
typedef struct phl_adapter_functions {
    const char* version; /* of the library, such as "GHEX 0.9.0" */
    /* Collective; `variant` is a word of the plug-in's. Null with a message in `error` (of `size`
     * bytes) when it cannot. */
    void* (*make)(const void* described, const char* variant, char* error, int size);
    int (*exchange)(
        void* adapter); /* a whole one; not 0 with a message on standard error if it fails */
    void (*free)(void* adapter);
    double* (*values)(
        void* adapter); /* of vectors: owned cells, then ghosts; they live until free */
} phl_adapter_functions;

#ifdef __cplusplus
}
#endif
