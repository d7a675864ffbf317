/* Watches the library's MPI calls through the profiling interface (MPI-4.1 section 15.2): link
 * before MPI, or preload. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this rank's calls on MPI_COMM_WORLD so far; name of the last one's function, or "".
   Tests themselves call PMPI_… there. Any call after MPI_Finalize exits with status 86. */
int watched_world_calls(void);
const char* watched_world_call(void);

/* Number of agreements (MPI_Iallreduce on any communicator) that this rank has begun. */
int watched_reductions(void);

/* Splits the last of three ranks off. Returns the Fortran handle of the others' communicator; the
   last rank waits in a barrier of MPI_COMM_WORLD until the others call `watched_meet`, and gets
   the handle of MPI_COMM_NULL. */
int watched_split(void);
void watched_meet(void);

#ifdef __cplusplus
}
#endif
