// What every simulated rank runs: the library's own exchange over mpi_p2p, for a list of cases. Rank 0 prints one line of
// JSON per case. Where a rank sits is decided by the order of the host file; rank numbers are the domain's own.
//
//     phl-simulate GRID EXTENT ITERATIONS CHECK HALO:FIELDS…     e.g. 12x12x12 64x64x64 2 0 1:1 5:8
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "parhelion/core/aligned.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/domain/cartesian_domain.hpp"
#include "parhelion/exchange/exchange.hpp"

using namespace parhelion;

namespace {

std::vector<int> numbers(const std::string& text) {
    std::vector<int> found;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, 'x');) found.push_back(std::atoi(item.c_str()));
    return found;
}

struct Case {
    int halo, fields;
};

struct Setup {
    std::vector<int> grid, extent;
    int iterations;
    bool check;
    MPI_Comm comm;

    CartesianDomain domain(int halo) const {
        std::vector<global_index> global;
        for (std::size_t d = 0; d < grid.size(); ++d) global.push_back(global_index{grid[d]} * extent[d]);
        return CartesianDomain(global, {.halo = halo, .periodic = true, .process_grid = grid}, comm);
    }
};

class Fields {
public:
    Fields(const CartesianDomain& domain, int count) : domain_(domain), box_(domain.extended()) {
        for (int f = 0; f < count; ++f) {
            memory_.push_back(allocate_aligned(box_.cells() * static_cast<byte_count>(sizeof(float))));
            views_.push_back(view(domain, values(f)));
        }
    }
    const std::vector<Field>& views() const { return views_; }

    // A number that tells the global cell and the field.
    void fill() {
        for_each([&](float& value, const Coordinates& at, int f) { value = inside(at) ? expected(at, f) : -1.0f; });
    }
    long wrong() {
        long count = 0;
        for_each([&](float& value, const Coordinates& at, int f) { count += value != expected(at, f); });
        return count;
    }

private:
    float* values(int f) { return reinterpret_cast<float*>(memory_[static_cast<std::size_t>(f)].get()); }
    bool inside(const Coordinates& at) const {
        const Box& owned = domain_.owned();
        for (std::size_t d = 0; d < 3; ++d)
            if (at[d] < owned.lo[d] || at[d] >= owned.hi[d]) return false;
        return true;
    }
    float expected(Coordinates at, int f) const {
        for (std::size_t d = 0; d < 3; ++d) {
            const auto n = domain_.axis(static_cast<int>(d)).extent;
            at[d] = (at[d] % n + n) % n;
        }
        return static_cast<float>(((at[0] * 61 + at[1]) * 61 + at[2]) % 100003 + f);
    }
    template <class Visit>
    void for_each(const Visit& visit) {
        for (int f = 0; f < static_cast<int>(memory_.size()); ++f) {
            float* value = values(f);
            Coordinates at{};
            for (at[0] = box_.lo[0]; at[0] < box_.hi[0]; ++at[0])
                for (at[1] = box_.lo[1]; at[1] < box_.hi[1]; ++at[1])
                    for (at[2] = box_.lo[2]; at[2] < box_.hi[2]; ++at[2]) visit(*value++, at, f);
        }
    }

    const CartesianDomain& domain_;
    Box box_;
    std::vector<AlignedBytes> memory_;
    std::vector<Field> views_;
};

double latest(double time) {
    double all = 0;
    MPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

// Exchanges follow each other without a barrier, as in a solver. From a common start to the last rank's end.
double seconds_per_exchange(Exchange& exchange, int iterations, MPI_Comm comm) {
    exchange();  // the first one makes connections and meets ranks that are not in step
    MPI_Barrier(comm);
    const double start = latest(MPI_Wtime());
    for (int i = 0; i < iterations; ++i) exchange();
    return (latest(MPI_Wtime()) - start) / iterations;
}

void run(const Setup& setup, const Case& what) {
    const CartesianDomain domain = setup.domain(what.halo);
    Fields fields(domain, what.fields);
    if (setup.check) fields.fill();
    Exchange exchange(build_pattern(domain), fields.views(), {.transport = "mpi_p2p"});
    const double seconds = seconds_per_exchange(exchange, setup.iterations, setup.comm);
    long wrong = setup.check ? fields.wrong() : 0, wrong_anywhere = 0;
    MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::printf("{\"halo\": %d, \"fields\": %d, \"seconds\": %.9e, \"checked\": %s, \"wrong\": %ld}\n", what.halo,
                    what.fields, seconds, setup.check ? "true" : "false", wrong_anywhere);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        if (argc < 6) throw Error("use: phl-simulate GRID EXTENT ITERATIONS CHECK HALO:FIELDS...");
        // In SMPI all ranks share one MPI_COMM_WORLD object, and with it what hangs on it; a duplicate is each rank's own.
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        const Setup setup{numbers(argv[1]), numbers(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]) != 0, comm};
        for (int i = 5; i < argc; ++i) {
            Case what{1, 1};
            if (std::sscanf(argv[i], "%d:%d", &what.halo, &what.fields) != 2)
                throw Error(std::string("case '") + argv[i] + "' is not HALO:FIELDS");
            run(setup, what);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "phl-simulate: %s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
