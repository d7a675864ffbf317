// Exchanges of device arrays: their order with the program's streams, rejected input, failing
// driver calls.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "parhelion/index_map/index_map.hpp"
#include "parhelion/index_map/migration.hpp"
#include "parhelion/index_map/point_sums.hpp"
#include "parhelion/plan/executor.hpp"
#include "parhelion/redistribution/gather.hpp"
#include "parhelion/redistribution/redistribution.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/slow_memory.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

constexpr std::size_t values = 6 * 8;  // 4 × 6 cells plus halo

// Some adjacent arrays and a stream of the program.
struct Solver {
    const DriverAgainstUs& driver = driver_against_us();
    const Communicator world{MPI_COMM_WORLD};
    const int ranks = world.size();
    const CartesianDomain domain{{4 * ranks, 6},
                                 {.halo = 1, .periodic = true, .process_grid = {ranks, 1}}};
    const std::shared_ptr<std::byte> memory = allocate_slow(3 * values * sizeof(double));
    double* const made = reinterpret_cast<double*>(memory.get());
    double *const u = made + values, *const seen = u + values;
    void* stream = nullptr;

    Solver() {
        driver.make_current();
        driver.create_stream(&stream, 1);
    }
    ~Solver() {
        driver.destroy_stream(stream);
        void* context = nullptr;
        driver.pop_context(&context);
    }

    static double* on_device(double* array) {
        return reinterpret_cast<double*>(as_slow(reinterpret_cast<std::byte*>(array)));
    }
    Field field() const { return view(domain, on_device(u)); }
    void copy(double* from, double* to) const {
        driver.copy(reinterpret_cast<unsigned long long>(on_device(to)),
                    reinterpret_cast<unsigned long long>(on_device(from)), values * sizeof(double),
                    stream);
    }
    double value(int i, int j, int time) const {
        return 10.0 * ((world.rank() * 4 + i + 4 * ranks) % (4 * ranks)) + (j + 6) % 6 + 1 + time;
    }
    void make(int time) const {
        seed_slow_executors(static_cast<std::uint64_t>(time));
        std::fill(made, made + 3 * values, -1);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 6; ++j) made[(i + 1) * 8 + j + 1] = value(i, j, time);
    }
    void expect_ghosts(int time) const {
        for (int i = -1; i < 5; ++i)
            for (int j = -1; j < 7; ++j) ASSERT_EQ(seen[(i + 1) * 8 + j + 1], value(i, j, time));
    }
};

std::vector<std::string> device_transports() {
    std::vector<std::string> names;
    for (const Route& route : all_routes()) names.push_back(route.transport);
    return names;
}

}  // namespace

CASE("an exchange follows the stream that it is given, and what comes after its end follows it") {
    const Solver solver;
    for (const std::string& transport : device_transports()) {
        CAPTURE(transport);
        Exchange exchange(solver.domain, {solver.field()}, {transport});
        const auto queue = queue_of_stream(solver.stream);
        for (int time = 0; time < 30; ++time) {
            solver.make(time);
            solver.copy(solver.made, solver.u);
            auto step = exchange.begin(*queue);
            exchange.end(*queue);
            solver.copy(solver.u, solver.seen);
            solver.driver.synchronize_stream(solver.stream);
            solver.expect_ghosts(time);
            EXPECT_EQ(solver.driver.contexts(), 1u);  // only the program's own
        }
        if (solver.driver.events != nullptr) {
            EXPECT_LT(solver.driver.events(), 30u);  // calls use them again
        }
    }
}

// Whether memory is outside pools and each rank has neighbors.
bool shares_memory(const Solver& solver) {
    return solver.ranks > 1 && driver_against_us().set_pools != nullptr &&
           !driver_against_us().has_pools();
}

CASE("another array at the addresses of one that was freed is found anew") {
    auto solver = std::make_unique<Solver>();
    if (!shares_memory(*solver)) return;
    Exchange exchange(solver->domain, {solver->field()}, {"device_ipc"});
    for (int time = 0; time < 6; ++time) {
        const double* const before = Solver::on_device(solver->u);
        solver.reset();  // neighbors have mapped it
        solver = std::make_unique<Solver>();
        ASSERT_EQ(Solver::on_device(solver->u), before);
        solver->make(time);
        solver->copy(solver->made, solver->u);
        time % 2 == 0 ? exchange(solver->field()) : exchange.begin(solver->field()).end();
        solver->copy(solver->u, solver->seen);
        solver->driver.synchronize_stream(solver->stream);
        solver->expect_ghosts(time);
    }
}

CASE("memory that handles do not share is told apart, and messages go instead") {
    const Solver solver;
    if (!shares_memory(solver)) return;
    solver.driver.set_pools(1);
    const Solver pool;
    solver.driver.set_pools(0);
    const std::string why = "is in device memory that CUDA's handles do not share";
    const auto refused = [&] { Exchange(pool.domain, {pool.field()}, {"device_ipc"}); };
    EXPECT_TRUE(holds(error_of(refused), why));
    const Exchange chosen(pool.domain, {pool.field()});
    EXPECT_FALSE(holds(chosen.explain(), "transport device_ipc"));
    EXPECT_TRUE(holds(chosen.explain(), why));
    // Constructed for shareable memory; later arrays fall back to messages.
    Exchange exchange(solver.domain, {solver.field()}, {"device_ipc"});
    EXPECT_FALSE(holds(exchange.explain(), why));
    for (int time = 0; time < 6; ++time) {
        const Solver& each = time % 3 == 1 ? solver : pool;
        each.make(time);
        each.copy(each.made, each.u);
        exchange(each.field());
        each.copy(each.u, each.seen);
        each.driver.synchronize_stream(each.stream);
        each.expect_ghosts(time);
    }
}

CASE("neighbors end an exchange that a rank has begun and not ended") {
    const Solver solver;
    if (solver.ranks == 1) return;
    for (const std::string& transport : device_transports()) {
        CAPTURE(transport);
        Exchange exchange(solver.domain, {solver.field()}, {transport});
        for (int time = 0; time < 4; ++time) {
            solver.make(time);
            solver.copy(solver.made, solver.u);
            auto step = exchange.begin();
            const bool is_away = solver.world.rank() == time % solver.ranks;
            if (!is_away) step.end();
            MPI_Barrier(MPI_COMM_WORLD);
            if (is_away) step.end();
            solver.copy(solver.u, solver.seen);
            solver.driver.synchronize_stream(solver.stream);
            solver.expect_ghosts(time);
            if (time % 2 == 0) exchange.reverse();
        }
    }
}

CASE("a reverse exchange follows the stream, and what comes after its end follows it") {
    const Solver solver;
    for (const std::string& transport : device_transports()) {
        CAPTURE(transport);
        Exchange exchange(solver.domain, {solver.field()}, {transport});
        const auto queue = queue_of_stream(solver.stream);
        for (int time = 0; time < 40; ++time) {
            solver.make(time);
            std::fill(solver.made, solver.made + values, 1);
            solver.copy(solver.made, solver.u);
            auto step = exchange.begin_reverse(*queue, Reduction::sum);
            exchange.end(*queue);
            solver.copy(solver.u, solver.seen);
            solver.copy(solver.made, solver.u);  // overwrites ghosts that neighbors have read
            solver.driver.synchronize_stream(solver.stream);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 6; ++j) {
                    const int holders = (1 + (i == 0 || i == 3)) * (1 + (j == 0 || j == 5));
                    ASSERT_EQ(solver.seen[(i + 1) * 8 + j + 1], holders);
                }
        }
    }
}

CASE("an exchange without a stream follows all that the program has put on the device") {
    const Solver solver;
    Exchange exchange(solver.domain, {solver.field()});
    for (int time = 0; time < 20; ++time) {
        solver.make(time);
        solver.copy(solver.made, solver.u);
        exchange();
        solver.copy(solver.u, solver.seen);
        solver.driver.synchronize_stream(solver.stream);
        solver.expect_ghosts(time);
    }
}

CASE("views find out where arrays are, and arrays of several places are refused") {
    const Solver solver;
    std::vector<double> host(values);
    Exchange exchange(solver.domain, {solver.field()});
    const Field here = view(solver.domain, host.data()), there = solver.field();
    EXPECT_EQ(here.space, MemorySpace::host);
    EXPECT_EQ(there.space, MemorySpace::device);
    EXPECT_GE(device_of(Solver::on_device(solver.u)), 0);
    EXPECT_EQ(device_of(host.data()), -1);
    EXPECT_TRUE(holds(error_of([&] { Exchange(solver.domain, {here, there}); }),
                      "an exchange of fields in host and in device memory: make one for each"));
    Field wrong = here;
    wrong.space = MemorySpace::device;
    EXPECT_TRUE(holds(error_of([&] { Exchange(solver.domain, {wrong}); }),
                      "is in the host's memory: set the space of its view to host"));
    EXPECT_TRUE(holds(error_of([&] { exchange(here); }), "an array is in the host's memory"));
    EXPECT_TRUE(holds(exchange.explain(), "copies by a kernel on device"));
    Field unknown = there;  // like a view created before the driver was loaded
    unknown.space = MemorySpace::host;
    Exchange found(solver.domain, {unknown});
    found(unknown);
    std::vector<std::byte*> places{reinterpret_cast<std::byte*>(host.data() + 9)};
    EXPECT_TRUE(holds(error_of([&] { found(places); }), "an array is in the host's memory"));
}

CASE("what a device cannot do is refused before anything moves") {
    const Solver solver;
    for (const std::string transport : {"staged_shared+mpi", "node_aware", "shared+mpi"})
        EXPECT_TRUE(holds(error_of([&] { Exchange(solver.domain, {solver.field()}, {transport}); }),
                          "field 0 is in device memory, which it does not reach: use mpi"));
    Exchange exchange(solver.domain, {solver.field()});
    const auto larger = reduction_of<double>([](double a, double b) { return a < b ? b : a; });
    EXPECT_TRUE(holds(error_of([&] { exchange.reverse(larger); }), "does not run on a device"));
    const auto queue = queue_of_stream(solver.stream);
    solver.driver.capture(solver.stream, 1);
    EXPECT_TRUE(
        holds(error_of([&] { auto step = exchange.begin(*queue); }), "is captured into a graph"));
    solver.driver.capture(solver.stream, 0);
    exchange();
}

// One rank only, because others would wait for the rank that failed.
CASE("each call of the driver that fails becomes an error, and nothing is left") {
    if (Communicator(MPI_COMM_WORLD).size() > 1 || driver_against_us().fail == nullptr) return;
    const Communicator self(MPI_COMM_SELF);
    const Solver solver;
    const CartesianDomain domain({4, 6}, {.halo = 1, .periodic = true}, self);
    const auto use = [&] {
        Exchange exchange(domain, {view(domain, Solver::on_device(solver.u))}, {"mpi"});
        const auto queue = queue_of_stream(solver.stream);
        exchange(*queue);
        exchange();
        exchange.reverse();
    };
    use();
    int failed = 0;
    for (long long call = 0;; ++call) {
        solver.driver.fail(call);
        const std::string error = error_of(use);
        const bool was_reached = solver.driver.left() < 0;
        solver.driver.fail(-1);
        if (!was_reached) break;
        failed += !error.empty();
        EXPECT_EQ(solver.driver.contexts(), 1u);
        use();
    }
    EXPECT_GT(failed, 20);
}

CASE("a driver that is too old, or none, is told by name") {
    const Communicator world(MPI_COMM_WORLD);
    const CartesianDomain domain({4 * world.size()}, {.halo = 1});
    std::vector<double> u(6);
    Field field = view(domain, u.data());
    field.space = MemorySpace::device;
    const std::string error = error_of([&] { Exchange(domain, {field}); });
    if (const char* const version = std::getenv("AGAINST_US_VERSION"); version != nullptr)
        EXPECT_TRUE(holds(error, "is of CUDA 9.2: a driver of CUDA 10.0 or newer is needed"));
    else if (!driver_against_us()) EXPECT_TRUE(holds(error, "no driver of CUDA is in use"));
}

CASE("calls that take arrays in the host's memory alone refuse others on every rank") {
    const Solver solver;
    const CartesianDomain& domain = solver.domain;
    if (solver.ranks == 1) return;
    double* const there = Solver::on_device(solver.u);
    std::vector<double> here(values);
    const auto refuses = [](auto&& call) { return holds(error_of(call), "the host's memory"); };
    const global_index next = 4 * ((solver.world.rank() + 1) % solver.ranks);
    const IndexMap map(IndexedDomain(4, {next, next + 1}, solver.world));
    const IndexMap placed = map.placed({.owned = {0, 2, 4, 6}, .ghosts = {1, 3}});
    for (const IndexMap* each : {&map, &placed}) {
        EXPECT_TRUE(refuses([&] { each->forward({there}); }));
        EXPECT_TRUE(refuses([&] { each->begin_reverse({there}, Reduction::sum); }));
        EXPECT_TRUE(refuses([&] { each->sum_shared({there}); }));
    }
    EXPECT_TRUE(refuses([&] { map.only(reinterpret_cast<std::int64_t*>(there)); }));
    EXPECT_TRUE(refuses([&] { PointSums(domain, {view(domain, there, {.stagger = {1, 1}})}); }));
    EXPECT_TRUE(refuses([&] { Redistribution(domain, domain)(solver.field(), solver.field()); }));
    EXPECT_TRUE(refuses([&] { gather(domain, solver.field(), view_whole(domain, here.data())); }));
    EXPECT_TRUE(refuses([&] { Migration(solver.world).send(std::vector<int>{0, 0}, {there}); }));
    Exchange exchange(domain, {solver.field()});
    EXPECT_TRUE(holds(error_of([&] { exchange.stale(); }), "in device memory cannot be compared"));
}
