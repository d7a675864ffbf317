/* Watches the library's MPI calls through the profiling interface (MPI-4.1 section 15.2): link
 * before MPI, or preload. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Calls on MPI_COMM_WORLD so far, on this rank. The last one's function, "" when there was none.
   What a test itself does there, it does by PMPI_… A call of anything after MPI_Finalize ends the
   process with status 86. */
int watched_world_calls(void);
const char* watched_world_call(void);

/* Reductions over any communicator in which ranks agree (MPI_Iallreduce), begun so far on this
 * rank. */
int watched_reductions(void);

/* Of three ranks: splits the last one off. The others get their communicator's Fortran handle; the
   last one waits in a barrier of MPI_COMM_WORLD until the others call `watched_meet`, and gets
   MPI_COMM_NULL's. */
int watched_split(void);
void watched_meet(void);

#ifdef __cplusplus
}
#endif
