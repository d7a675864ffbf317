// steady TRANSPORT: batches of exchanges between marks that a tracer of system calls sees (an lseek on descriptor −1).
#include <unistd.h>

#include <string>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) return 2;
    {
        const CartesianDomain domain({32, 16, 16}, {.halo = 1, .periodic = true});
        auto u = make_array<double>(domain);
        Exchange exchange(build_pattern(domain), {view(u)}, {argv[1]});
        for (int batch = 0; batch < 300; ++batch) {
            lseek(-1, batch, SEEK_SET);
            for (int i = 0; i < 20; ++i) exchange();
        }
        lseek(-1, 300, SEEK_SET);
    }
    MPI_Finalize();
}
