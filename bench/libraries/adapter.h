/* Interface between phl-bench and plug-ins for other libraries' exchanges. Plain C, because each
 * plug-in is built with its library's flags and language standard. */
#pragma once

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A 3-D halo exchange: one block per rank, dimension 0 fastest in memory, all 26 neighbors. */
typedef struct phl_adapter_halo {
  MPI_Comm comm;
  int element_bytes;  /* 4 or 8 */
  int rank_of_block;  /* also the block number */
  int first[3];       /* global index of the first owned cell */
  int extent[3];      /* owned cells */
  int grid[3];        /* blocks per dimension */
  int rank_stride[3]; /* between blocks adjacent along a dimension */
  int position[3];    /* of this block in the grid */
  int periodic[3];
  int halo;
  int fields;
  void* const* arrays; /* one per field, with halo; caller's, valid until free */
} phl_adapter_halo;

/* A gather, or a distributed vector. Owned cells in blocks by rank; ghosts ascend by id; ids count
 * from 0. */
typedef struct phl_adapter_cells {
  MPI_Comm comm;
  int32_t owned, ghosts;
  const int64_t* ghost_ids; /* three lists, an entry per ghost; valid until make returns */
  const int32_t* ghost_owners;
  const int32_t* ghost_cells; /* index in the owner's block; null for vectors */
  const char* element;        /* "int32", "float64", ... */
  int components;
  void* cells; /* caller's, valid until free; null for vectors, which own theirs */
  void* ghost_values;
} phl_adapter_cells;

/* Symbols of plug-ins: phl_halo_adapter, whose make() takes a phl_adapter_halo; phl_gather_adapter
 * and phl_vector_adapter, which take phl_adapter_cells. */
typedef struct phl_adapter_functions {
  const char* version; /* of the library, such as "GHEX 0.9.0" */
  /* Collective. `variant` is a name that the plug-in knows. On failure returns null and writes a
   * message to `error`, of `size` bytes. */
  void* (*make)(const void* described, const char* variant, char* error, int size);
  int (*exchange)(void* adapter); /* blocking; returns 0, or writes to stderr */
  void (*free)(void* adapter);
  double* (*values)(void* adapter); /* of vectors: owned cells, then ghosts; valid until free */
} phl_adapter_functions;

#ifdef __cplusplus
}
#endif
