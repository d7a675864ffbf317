// Exchanges that get on while their ranks do something else.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "parhelion/parhelion.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Whether the value turns up within a minute, without a call of the library.
bool turns_up(double& place, double value) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::atomic_ref(place).load() != value) {
        if (std::chrono::steady_clock::now() > limit) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

}  // namespace

TEST_CASE("with a progress thread ghosts are filled while the program computes") {
    const Communicator comm;
    const int left = (comm.rank() + comm.size() - 1) % comm.size();
    for (const Route& route : all_routes()) {
        if (route.transport == "auto" || comm.size() == 1) continue;
        CAPTURE(route.transport);
        const CartesianDomain domain({4 * comm.size(), 2000}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}});
        auto u = make_array<double>(domain);
        Exchange exchange(build_pattern(domain), {view(u)}, {.transport = route.transport, .timeout_s = 60, .progress_thread = true});
        for (int round = 1; round <= 3; ++round) {
            for (int x = 0; x < 4; ++x)
                for (int y = 0; y < 2000; ++y) u(x, y) = 100.0 * round + comm.rank();
            MPI_Barrier(MPI_COMM_WORLD);
            auto step = exchange.begin();
            CHECK(turns_up(u(-1, 1999), 100.0 * round + left));
            MPI_Barrier(MPI_COMM_WORLD);  // nobody helps a neighbor from within end
            step.end();
        }
    }
}
