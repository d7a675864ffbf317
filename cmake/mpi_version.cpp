// Prints the file that MPI is loaded from, then what MPI says it is. MPI_Get_library_version may be
// called before MPI_Init (MPI 4.1, 9.1.1), so no launcher is needed.
#include <dlfcn.h>
#include <mpi.h>
#include <cstdio>

int main() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    Dl_info library{};
    if (!dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &library)) return 1;
    std::printf("%s\n%s", library.dli_fname, text);
}
