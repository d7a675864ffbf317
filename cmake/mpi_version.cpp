// MPI_Get_library_version may be called before MPI_Init (MPI 4.1, 9.1.1), so no launcher is needed.
#include <cstdio>
#include <mpi.h>

int main() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::fputs(text, stdout);
}
