// Exchanges whose values come part by part, from several threads.
#include <thread>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/grid_cases.hpp"
#include "support/meshes.hpp"
#include "support/random.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

constexpr int thread_count = 3;

// Thread t has the parts t, t + 3, …; begun anew by each exchange, in an order of its own. `compute` gives a part its values.
template <class Compute>
void in_parts(Exchange& exchange, int round, Compute&& compute) {
    Exchange::Step step = exchange.begin_parts();
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
        threads.emplace_back([&, t] {
            Random random(mix(static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(t)));
            if (random.chance(50)) std::this_thread::sleep_for(std::chrono::microseconds(random.between(1, 200)));
            for (int part = t; part < exchange.parts(); part += thread_count) compute(part), step.ready(part);
        });
    for (std::thread& thread : threads) thread.join();
    step.end();
}
void in_parts(Exchange& exchange, int round) {
    in_parts(exchange, round, [](int) {});
}

template <class FieldKind>
void check_in_parts(Exchange& exchange, std::vector<FieldKind>& fields) {
    for (int round = 0; round < 3; ++round) {
        for (auto& field : fields) field.fill(Values::bits, round), field.expect_forward();
        if (round == 1) exchange();  // all at once, between two in parts
        else in_parts(exchange, round);
        for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
    }
}

}  // namespace

CASE("in parts, told by threads, ghosts of a structured grid hold their owners' values over every transport") {
    int turn = 0;
    for (const GridCase& each : grid_cases(Communicator(MPI_COMM_WORLD).size())) {
        CAPTURE(each.name);
        const CartesianDomain domain(each.extents, each.options);
        for (const Route& route : routes_for(++turn, 2)) {
            CAPTURE(route.transport);
            auto fields = make_fields(domain, 3, turn, route.memory);
            Exchange exchange(build_pattern(domain), views(fields), {.transport = route.transport, .parts = 1 + turn % 7});
            check_in_parts(exchange, fields);
            check_reverse(exchange, fields, Reduction::replace, domain.algorithm() == Algorithm::staged, 1);
        }
    }
}

CASE("in parts, told by threads, ghosts of an index map hold their owners' values over every transport") {
    int turn = 0;
    for (const MeshCase& each : mesh_cases(Communicator(MPI_COMM_WORLD).size())) {
        CAPTURE(each.name);
        const IndexedDomain domain = each.mesh.domain(each.self);
        for (const Route& route : routes_for(++turn, 2)) {
            CAPTURE(route.transport);
            auto fields = make_fields(domain, each.mesh, 3, turn, route.memory);
            Exchange exchange(build_pattern(domain), views(fields), {.transport = route.transport, .parts = 1 + turn % 5});
            check_in_parts(exchange, fields);
        }
    }
}

namespace {

// A field large enough for several partitions of a message, whose parts get their values right before they are told.
class LateGrid {
public:
    explicit LateGrid(int fields)
        : domain_({24 * Communicator(MPI_COMM_WORLD).size(), 20, 18},
                  {.halo = 2, .periodic = true, .process_grid = {Communicator(MPI_COMM_WORLD).size(), 1, 1}}) {
        for (int f = 0; f < fields; ++f) arrays_.push_back(make_array<double>(domain_));
        for (auto& array : arrays_) fields_.push_back(array.field());
    }
    Exchange exchange(const std::string& transport, int parts) const {
        return {build_pattern(domain_), fields_, {.transport = transport, .parts = parts}};
    }
    void forget() {
        for_cells(halo, [&](Coordinates at) {
            for (auto& array : arrays_) array.at(at) = -1;
        });
    }
    void compute(const PartOfBlock& part, int round) {
        const auto d = static_cast<std::size_t>(part.dimension);
        for_cells(0, [&](Coordinates at) {
            const global_index along = at[d] - domain_.owned(0).lo[d];
            if (along < part.first || along >= part.last) return;
            for (std::size_t f = 0; f < arrays_.size(); ++f) arrays_[f].at(at) = value(at, f, round);
        });
    }
    int wrong(int round) {
        int count = 0;
        for_cells(halo, [&](Coordinates at) {
            for (std::size_t f = 0; f < arrays_.size(); ++f) count += arrays_[f].at(at) != value(at, f, round);
        });
        return count;
    }

private:
    static constexpr int halo = 2;
    template <class Visit>
    void for_cells(int around, Visit&& visit) {
        const Box box = grow(domain_.owned(0), around, 3);
        for (global_index x = box.lo[0]; x < box.hi[0]; ++x)
            for (global_index y = box.lo[1]; y < box.hi[1]; ++y)
                for (global_index z = box.lo[2]; z < box.hi[2]; ++z) visit(Coordinates{x, y, z, 0});
    }
    static double value(Coordinates at, std::size_t field, int round) {
        global_index number = 0;
        const Coordinates extents{24 * Communicator(MPI_COMM_WORLD).size(), 20, 18, 1};
        for (std::size_t d = 0; d < 3; ++d) number = number * extents[d] + (at[d] + extents[d]) % extents[d];
        return static_cast<double>(number * 8 + static_cast<global_index>(field) + round);
    }

    CartesianDomain domain_;
    std::vector<Array<double>> arrays_;
    std::vector<Field> fields_;
};

}  // namespace

CASE("a part may get its values right before it is told, while other parts are under way") {
    for (const Route& route : routes_for(0, 4)) {
        CAPTURE(route.transport);
        LateGrid grid(2);
        for (const int parts : {1, 4, 30}) {  // more than rows: some are empty
            CAPTURE(parts);
            Exchange exchange = grid.exchange(route.transport, parts);
            for (int round = 0; round < 4; ++round) {
                grid.forget();
                in_parts(exchange, round, [&](int part) { grid.compute(exchange.part(part), round); });
                ASSERT_EQ(grid.wrong(round), 0);
            }
        }
    }
}

CASE("end takes the parts for ready that nobody has told of") {
    for (const Route& route : routes_for(1, 3)) {
        CAPTURE(route.transport);
        LateGrid grid(1);
        Exchange exchange = grid.exchange(route.transport, 4);
        grid.forget();
        for (int part = 0; part < 4; ++part) grid.compute(exchange.part(part), 0);
        Exchange::Step step = exchange.begin_parts();
        step.ready(2);
        step.end();
        EXPECT_EQ(grid.wrong(0), 0);
    }
}

CASE("mistakes with parts are told, and change nothing") {
    LateGrid grid(1);
    Exchange exchange = grid.exchange("mpi_p2p", 4);
    EXPECT_TRUE(holds(error_of([&] { exchange.ready(0); }), "no exchange in parts is under way"));
    EXPECT_TRUE(holds(error_of([&] { static_cast<void>(exchange.part(4)); }), "there is no part 4: this exchange has parts 0 to 3"));
    Exchange::Step step = exchange.begin_parts();
    step.ready(1);
    EXPECT_TRUE(holds(error_of([&] { step.ready(1); }), "part 1 was ready before"));
    EXPECT_TRUE(holds(error_of([&] { step.ready(-1); }), "there is no part -1"));
    step.end();
    Exchange::Step whole = exchange.begin();
    EXPECT_TRUE(holds(error_of([&] { whole.ready(0); }), "call begin_parts first"));
    whole.end();
    EXPECT_TRUE(holds(error_of([&] { grid.exchange("mpi_p2p", 0); }), "an exchange cannot have 0 parts"));
    const Communicator comm(MPI_COMM_WORLD);
    if (comm.size() > 1) EXPECT_TRUE(holds(error_of([&] { grid.exchange("mpi_p2p", 1 + comm.rank() % 2); }), "differ between ranks"));
}
