// A rank that polls for its next message costs the simulation an event per poll, and gives it the time between polls as an
// error. Simulated ranks have nothing else to do, so a poll for any of several messages waits for the next one instead: the
// rank goes on at the moment at which a poll would have found it.
#include <mpi.h>

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    *flag = 1;
    return MPI_Waitany(count, requests, index, status);
}
