/* Checks that count failures, and a small unstructured mesh that each rank can compute for all. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parhelion/phl.h"

extern int failures, rank, ranks;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      ++failures; \
      fprintf(stderr, "[rank %d] %s:%d: %s\n", rank, __FILE__, __LINE__, #condition); \
    } \
  } while (0)

/* A call that must succeed; aborts the job otherwise, because other ranks would hang. */
#define GOOD(call) \
  do { \
    if ((call) != PHL_SUCCESS) { \
      fprintf(stderr, "[rank %d] %s:%d: %s\n    %s\n", rank, __FILE__, __LINE__, #call, \
          phl_last_error()); \
      MPI_Abort(MPI_COMM_WORLD, 3); \
    } \
  } while (0)

/* A call that must fail with `status` and with `words` in its message. */
#define FAILS(call, status, words) \
  do { \
    const int got = (call); \
    if (got != (status) || strstr(phl_last_error(), words) == NULL) { \
      ++failures; \
      fprintf(stderr, "[rank %d] %s:%d: %s\n    gave %d: %s\n", rank, __FILE__, __LINE__, #call, \
          got, phl_last_error()); \
    } \
  } while (0)

/* Owned cells of a rank: some ranks own nothing. */
int64_t owned_by(int r);
int64_t first_of(int r);
int owner_of(int64_t id);
/* Ghosts of a rank, some of them twice; none if it owns all cells. */
enum { most_ghosts = 24 };
int ghosts_of(int r, int64_t* ids);
phl_index_map make_map(void);

void test_gather(void);
void test_scatter(void);
void test_derived_maps(void);
void test_questions(void);
void test_cartesian(void);
void test_points(void);
void test_laws(void);
void test_moves(void);
void test_mistakes(void);
int test_device(void); /* 0: no driver, nothing tested */

#endif
