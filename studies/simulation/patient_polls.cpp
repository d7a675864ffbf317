// A rank that polls for its next message costs the simulation an event per poll, and gives it the
// time between polls as an error. Ranks that wait for messages alone (PARHELION_PATIENT=1) have
// nothing else to do, so a poll for any of several messages waits for the next one instead: the
// rank goes on at the moment at which a poll would have found it.
#include <mpi.h>

#include <cstdlib>
#include <cstring>

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
    static const bool patient = std::getenv("PARHELION_PATIENT") != nullptr &&
                                std::strcmp(std::getenv("PARHELION_PATIENT"), "1") == 0;
    if (!patient) return PMPI_Testany(count, requests, index, flag, status);
    *flag = 1;
    return MPI_Waitany(count, requests, index, status);
}
