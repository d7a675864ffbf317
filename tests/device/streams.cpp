// Exchanges of device arrays: their order with the program's streams, rejected input, failing
// driver calls.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/orphans.hpp"
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
#include "transport/factories.hpp"

using namespace test;

namespace {

constexpr std::size_t values = 6 * 8;  // 4 × 6 cells plus halo

// Some adjacent arrays and a stream of the program, on a device.
struct Solver {
  const DriverAgainstUs& driver = driver_against_us();
  const int device;
  const Communicator world{MPI_COMM_WORLD};
  const int ranks = world.size();
  const CartesianDomain domain{
      {4 * ranks, 6}, {.halo = 1, .periodic = true, .process_grid = {ranks, 1}}};
  const std::shared_ptr<std::byte> memory = allocate_slow(3 * values * sizeof(double));
  double* const made = reinterpret_cast<double*>(memory.get());
  double *const u = made + values, *const seen = u + values;
  void* stream = nullptr;

  explicit Solver(int on = 0) : device(choose(on)) {
    driver.make_current();
    driver.create_stream(&stream, 1);
  }
  ~Solver() {
    driver.destroy_stream(stream);
    void* context = nullptr;
    driver.pop_context(&context);
    choose(0);
  }
  int choose(int on) const {
    if (driver.choose != nullptr) driver.choose(on);
    return on;
  }

  static double* on_device(double* array) {
    return reinterpret_cast<double*>(as_slow(reinterpret_cast<std::byte*>(array)));
  }
  Field field() const { return view(domain, on_device(u)); }
  void copy(double* from, double* to) const {
    choose(device);
    driver.make_current();
    driver.copy(reinterpret_cast<unsigned long long>(on_device(to)),
        reinterpret_cast<unsigned long long>(on_device(from)), values * sizeof(double), stream);
    void* context = nullptr;
    driver.pop_context(&context);
  }
  void start(int time) const {
    make(time);
    copy(made, u);
  }
  void expect_filled(int time) const {
    copy(u, seen);
    driver.synchronize_stream(stream);
    expect_ghosts(time);
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
  void start_ones(int time) const {
    make(time);
    std::fill(made, made + values, 1);
    copy(made, u);
  }
  // What a sum of ones gives.
  void expect_holders() const {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j) {
        const int holders = (1 + (i == 0 || i == 3)) * (1 + (j == 0 || j == 5));
        ASSERT_EQ(seen[(i + 1) * 8 + j + 1], holders);
      }
  }
  void expect_owned(int time) const {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 6; ++j) ASSERT_EQ(seen[(i + 1) * 8 + j + 1], value(i, j, time));
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

// Objects of the driver, without messages that late neighbors have taken.
std::size_t alive_now() {
  MPI_Barrier(MPI_COMM_WORLD);
  free_released();
  return driver_against_us().alive();
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
  const std::size_t alive = driver_against_us().alive();
  for (int time = 0; time < 30; ++time) {
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
  EXPECT_LT(driver_against_us().alive(), alive + 25);  // old mappings are closed
}

CASE("memory that handles do not share is told apart, and messages go instead") {
  const Solver solver;
  if (!shares_memory(solver)) return;
  solver.driver.set_pools(1);
  const Solver pool;
  solver.driver.set_pools(0);
  const std::string why = "is in device memory that CUDA's handles do not share";
  const Field another = view(pool.domain, Solver::on_device(pool.made));
  const auto refused = [&] {
    Exchange(pool.domain, {solver.field(), pool.field(), another}, {"device_ipc"});
  };
  EXPECT_TRUE(holds(error_of(refused), "field 1 " + why));
  const CartesianDomain larger(
      {40 * pool.ranks, 6}, {.halo = 1, .periodic = true, .process_grid = {pool.ranks, 1}});
  const auto beyond = [&] {
    Exchange(larger, {view(larger, Solver::on_device(solver.u))}, {"device_ipc"});
  };
  EXPECT_TRUE(
      holds(error_of(beyond), "field 0 " + why));  // mapped by the program: of several allocations
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
      solver.start_ones(time);
      auto step = exchange.begin_reverse(*queue, Reduction::sum);
      exchange.end(*queue);
      solver.copy(solver.u, solver.seen);
      solver.copy(solver.made, solver.u);  // overwrites ghosts that neighbors have read
      solver.driver.synchronize_stream(solver.stream);
      solver.expect_holders();
    }
  }
}

CASE("an exchange may be destroyed before its last copies are made") {
  const Solver solver;
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    for (int time = 0; time < 6; ++time) {
      const auto queue = queue_of_stream(solver.stream);
      solver.start(time);
      {
        Exchange exchange(solver.domain, {solver.field()}, {transport});
        if (solver.driver.reachable != nullptr) {
          EXPECT_EQ(solver.driver.reachable(), 0u);
        }
        exchange(*queue);
        solver.start(time);
        exchange(*queue);
      }
      solver.expect_filled(time);
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
  const auto locked = make_executor(MemorySpace::device, 1, there.blocks[0].first)->allocate(8);
  EXPECT_EQ(device_of(locked.get()), -1);
  EXPECT_TRUE(holds(error_of([&] { Exchange(solver.domain, {here, there}); }),
      "an exchange of fields in host and in device memory: make one for each"));
  Field wrong = here;
  wrong.space = MemorySpace::device;
  EXPECT_TRUE(holds(error_of([&] { Exchange(solver.domain, {wrong}); }),
      "is in the host's memory: set the space of its view to host"));
  EXPECT_TRUE(holds(error_of([&] { exchange(here); }), "an array is in the host's memory"));
  EXPECT_TRUE(holds(exchange.explain(),
      "copies by a kernel on device " + std::to_string(device_of(Solver::on_device(solver.u)))));
  Field unknown = there;  // like a view created before the driver was loaded
  unknown.space = MemorySpace::host;
  Exchange found(solver.domain, {unknown});
  found(unknown);
  std::vector<std::byte*> places{reinterpret_cast<std::byte*>(host.data() + 9)};
  EXPECT_TRUE(holds(error_of([&] { found(places); }), "an array is in the host's memory"));
  Exchange on_host(solver.domain, {here});
  EXPECT_TRUE(holds(error_of([&] { on_host(there); }), "its values in device memory"));
  EXPECT_TRUE(holds(error_of([&] { on_host(unknown); }), "an array is on device"));
  places = {unknown.blocks[0].first};
  EXPECT_TRUE(holds(error_of([&] { on_host(places); }), "an array is on device"));
  on_host();
  if (solver.driver.last_error != nullptr) {
    EXPECT_EQ(solver.driver.last_error(), 0);  // the program may ask for it
  }
  if (solver.driver.fail == nullptr || std::getenv("PARHELION_TEST_PRELOAD") != nullptr)
    return;  // an MPI that moves device memory calls the driver, too
  std::vector<double> other(values);
  const Field moved = view(solver.domain, other.data());
  solver.driver.fail(1000);  // counts calls
  on_host(moved);
  EXPECT_EQ(solver.driver.left(), 999);  // about the new array alone
  solver.driver.fail(-1);
}

CASE("the arrays that an exchange was made with may be freed before it moves others") {
  auto made = std::make_unique<Solver>();
  const Solver solver;
  Exchange exchange(solver.domain, {made->field()}, {"mpi"});
  made.reset();
  for (int time = 0; time < 4; ++time) {
    solver.start(time);
    exchange(solver.field());
    solver.expect_filled(time);
    exchange.only({.neighbors = Neighbors::faces})(solver.field());
  }
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

CASE("a capture refuses begin and end, and the exchange works on") {
  const Solver solver;
  if (solver.driver.alive == nullptr) return;
  void* blocking = nullptr;
  solver.driver.create_stream(&blocking, 0);
  const auto queue = queue_of_stream(solver.stream);
  for (const bool is_checked : {false, true}) {
    Exchange exchange(solver.domain, {solver.field()}, {.check = is_checked});
    const auto refuses = [&](auto&& call) {
      for (void* each : {solver.stream, blocking}) {
        solver.driver.capture(each, 1);
        EXPECT_TRUE(holds(error_of(call), "is captured into a graph"));
        solver.driver.capture(each, 0);
      }
    };
    for (int time = 0; time < 4; ++time) {
      refuses([&] { exchange(); });
      refuses([&] { exchange(*queue); });
      refuses([&] { auto step = exchange.begin(); });
      refuses([&] { exchange.reverse(); });
      if (solver.world.rank() == 0) {
        solver.driver.capture(solver.stream, 2);  // only the wait for the device sees it
        EXPECT_TRUE(holds(error_of([&] { exchange(); }), "is captured into a graph"));
        solver.driver.capture(solver.stream, 0);
      }
      solver.start(time);
      auto step = exchange.begin(*queue);
      refuses([&] { exchange.end(*queue); });
      refuses([&] { step.end(); });
      EXPECT_TRUE(exchange.under_way());
      time % 2 == 0 ? exchange.end(*queue) : step.end();
      solver.expect_filled(time);
    }
  }
  solver.driver.destroy_stream(blocking);
}

CASE("exchanges under way at once on several streams keep apart") {
  constexpr int several = 3;
  const Solver solvers[several];
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    std::vector<Exchange> exchanges;
    std::vector<std::shared_ptr<Queue>> queues;
    for (const Solver& each : solvers) {
      exchanges.emplace_back(each.domain, std::vector{each.field()}, ExchangeOptions{transport});
      queues.push_back(queue_of_stream(each.stream));
    }
    for (int time = 0; time < 20; ++time) {
      std::vector<Exchange::Step> steps;
      for (int i = 0; i < several; ++i) solvers[i].start(several * time + i);
      for (int i = 0; i < several; ++i) steps.push_back(exchanges[i].begin(*queues[i]));
      for (int i = 0; i < several; ++i) {
        const int next = (i + time) % several;
        exchanges[next].end(*queues[next]);
      }
      for (int i = 0; i < several; ++i) solvers[i].expect_filled(several * time + i);
    }
  }
}

CASE("exchanges of arrays on two devices run each on its own") {
  if (driver_against_us().choose == nullptr) return;
  const Solver first(0), second(1);
  const auto both = [&] { Exchange(first.domain, {first.field(), second.field()}); };
  EXPECT_TRUE(holds(error_of(both), "construct an exchange for each, or move them to one device"));
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    Exchange here(first.domain, {first.field()}, {transport}),
        there(second.domain, {second.field()}, {transport});
    EXPECT_TRUE(holds(error_of([&] { here(second.field()); }), "needs one on device"));
    const auto one = queue_of_stream(first.stream), other = queue_of_stream(second.stream);
    for (int time = 0; time < 20; ++time) {
      first.start(time), second.start(time + 1);
      if (time % 2 == 0) {
        auto step = there.begin(*other), earlier = here.begin(*one);
        there.end(*other), here.end(*one);
      } else {
        here(), there();
      }
      first.expect_filled(time), second.expect_filled(time + 1);
    }
    void* context = nullptr;  // the program's device stays the current one
    first.choose(0), first.driver.make_current();
    there();
    EXPECT_EQ(first.driver.contexts(), 3u);
    first.driver.pop_context(&context);
  }
}

// Whether arrays are in a pool's memory, until the end of a scope.
struct WithPools {
  const DriverAgainstUs& driver;
  const bool before = driver.has_pools();
  WithPools(const DriverAgainstUs& of, int pools) : driver(of) { driver.set_pools(pools); }
  ~WithPools() { driver.set_pools(before ? 2 : 0); }
};

// Cells of an index map on the device, then ghosts.
struct DeviceCells {
  std::shared_ptr<std::byte> memory;
  double* const seen = reinterpret_cast<double*>(memory.get());
  Field field;

  DeviceCells(const IndexedDomain& domain, global_index most, std::size_t values)
      : memory(allocate_slow(values * sizeof(double))) {
    double* const u = Solver::on_device(seen);
    field = view(domain, u, u + most, 1);
    field.space = MemorySpace::device;
  }
};

CASE("a default stream is that of the array's device, not of the current one") {
  const DriverAgainstUs& driver = driver_against_us();
  if (driver.choose == nullptr) return;
  for (const int pools : {0, 1}) {  // whose memory has no context
    const WithPools set(driver, pools);
    Solver there(1);
    const Solver here(0);  // whose device is the current one
    Exchange exchange(there.domain, {there.field()}, {"mpi"});
    void* const own = std::exchange(there.stream, nullptr);
    for (int time = 0; time < 20; ++time) {
      there.start(time);
      exchange(*queue_of_stream(nullptr, Solver::on_device(there.u)));
      there.copy(there.u, there.seen);
      there.choose(1), driver.make_current();
      driver.synchronize_stream(nullptr);
      void* context = nullptr;
      driver.pop_context(&context);
      there.expect_ghosts(time);
    }
    there.stream = own;
  }
}

// One rank only, because others would wait for the rank that failed.
CASE("each call of the driver that fails becomes an error, and nothing is left") {
  if (Communicator(MPI_COMM_WORLD).size() > 1 || driver_against_us().fail == nullptr) return;
  const Communicator self(MPI_COMM_SELF);
  const Solver solver;
  const CartesianDomain domain({4, 6}, {.halo = 1, .periodic = true}, self);
  enum Way { on_stream, at_once, begun, reverse };
  int time = 0;
  const auto use = [&](Way way, long long calls_until_failure) {
    ++time;
    way == reverse ? solver.start_ones(time) : solver.start(time);
    solver.driver.fail(calls_until_failure);
    const std::string error = error_of([&] {
      Exchange exchange(domain, {view(domain, Solver::on_device(solver.u))}, {"mpi"});
      const auto queue = queue_of_stream(solver.stream);
      if (way == on_stream) exchange(*queue);
      else if (way == at_once) exchange();
      else if (way == begun) {
        auto step = exchange.begin();
        const std::string why = error_of([&] { step.end(); });
        EXPECT_FALSE(exchange.under_way());
        if (!why.empty()) throw Error(why);
      } else {
        exchange.reverse(*queue, Reduction::sum);
      }
    });
    const bool was_reached = solver.driver.left() < 0;
    solver.driver.fail(-1);
    EXPECT_EQ(solver.driver.contexts(), 1u);
    solver.driver.synchronize();  // copies of an exchange that failed
    solver.copy(solver.u, solver.seen);
    solver.driver.synchronize_stream(solver.stream);
    if (way != reverse) error.empty() ? solver.expect_ghosts(time) : solver.expect_owned(time);
    else if (error.empty()) solver.expect_holders();
    return was_reached ? error : "not reached";
  };
  use(at_once, -1);
  const std::size_t alive = solver.driver.alive();
  for (const Way way : {on_stream, at_once, begun, reverse}) {
    CAPTURE(static_cast<int>(way));
    int failed = 0, waits = 0;
    for (long long call = 0;; ++call) {
      const std::string error = use(way, call);
      if (error == "not reached") break;
      failed += !error.empty();
      waits +=
          holds(error, "cuCtxSynchronize failed") || holds(error, "hipDeviceSynchronize failed");
      CAPTURE(std::string(solver.driver.failed()));
      // Without its context, nothing of it can be given back.
      const std::string made_to_fail = solver.driver.failed();
      if (made_to_fail == "cuCtxPushCurrent_v2" || made_to_fail == "hipSetDevice" ||
          made_to_fail == "hipGetDevice")
        solver.driver.forgive(alive);
      ASSERT_EQ(solver.driver.alive(), alive);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
    EXPECT_GT(failed, 20);
    EXPECT_EQ(waits > 0, way == at_once || way == begun);
  }
}

CASE("a device without memory is an error on every rank or on none, and nothing is left") {
  const Solver solver;
  if (solver.driver.exhaust == nullptr) return;
  int time = 0;
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    for (int allocation = 0, more = 1; more != 0; ++allocation) {
      CAPTURE(allocation);
      const std::size_t alive = alive_now();
      if (solver.world.rank() == 0) solver.driver.exhaust(allocation);
      std::optional<Exchange> exchange;
      try {
        exchange.emplace(solver.domain, std::vector{solver.field()}, ExchangeOptions{transport});
      } catch (const std::exception& error) {  // also std::bad_alloc
        if (holds(error.what(), "cuMemAlloc failed")) {
          EXPECT_TRUE(holds(error.what(), "free memory of the device")) << error.what();
        }
      }
      more = solver.driver.is_exhausted();
      solver.driver.exhaust(-1);
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      int made = exchange.has_value(), made_by = 0;
      MPI_Allreduce(&made, &made_by, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      ASSERT_EQ(made_by, made * solver.ranks);
      EXPECT_TRUE(made == 1 || more != 0);
      if (exchange) {
        solver.start(++time);
        (*exchange)();
        exchange->reverse(Reduction::replace);
        solver.expect_filled(time);
        exchange.reset();
      }
      EXPECT_EQ(alive_now(), alive);
    }
    EXPECT_GT(time, 0);
  }
}

CASE("a driver that is too old, or none, is told by name") {
  const Communicator world(MPI_COMM_WORLD);
  const CartesianDomain domain({4 * world.size()}, {.halo = 1});
  std::vector<double> u(6);
  Field field = view(domain, u.data());
  field.space = MemorySpace::device;
  const std::string error = error_of([&] { Exchange(domain, {field}); });
  if (std::getenv("AGAINST_US_VERSION") != nullptr)
    EXPECT_TRUE(holds(error, std::getenv("PARHELION_HIP") != nullptr
                                 ? "is of HIP 5.7: a driver of HIP 6.0 or newer is needed: update"
                                 : "is of CUDA 10.2: a driver of CUDA 11.0 or newer is needed: "
                                   "update it"));
  else if (std::getenv("PARHELION_CUDA") != nullptr && !driver_against_us())
    EXPECT_TRUE(holds(error_of([] { queue_of_stream(nullptr); }),
        "has no cuDriverGetVersion: a driver of CUDA 11.0 or newer is needed"));
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

CASE("one launch packs the messages to all neighbors, and one unpacks those from them") {
  const Solver solver;
  if (solver.ranks < 3 || solver.driver.launches == nullptr) return;
  const CartesianDomain domain{{4 * solver.ranks, 6},
      {.halo = 1, .periodic = {true, false}, .process_grid = {solver.ranks, 1}}};
  Exchange exchange(domain, {view(domain, Solver::on_device(solver.u))}, {"mpi"});
  const auto launches_of = [&](auto&& call) {
    const std::uint64_t before = solver.driver.launches();
    call();
    return solver.driver.launches() - before;
  };
  EXPECT_EQ(launches_of([&] { exchange(); }), 2u);
  EXPECT_EQ(launches_of([&] { exchange.reverse(Reduction::sum); }), 2u);
}

CASE("cells of several neighbors are combined by as many launches as ranks that share one") {
  const Solver solver;
  if (solver.ranks < 3 || solver.driver.launches == nullptr) return;
  const int rank = solver.world.rank(), others = solver.ranks - 1;
  // Rank 0's cells: one that all ranks read, then one for each of them, in different orders.
  std::vector<global_index> wanted;
  if (rank > 0) wanted = {rank, 0};
  const IndexedDomain domain(rank == 0 ? 1 + others : 0, wanted, solver.world);
  const DeviceCells all(domain, 32, 64);
  double* const seen = all.seen;
  Exchange exchange(build_pattern(domain), {all.field}, {"mpi"});
  const auto launches_of = [&](auto&& call) {
    const std::uint64_t before = solver.driver.launches();
    call();
    return solver.driver.launches() - before;
  };
  const double parts[] = {1, 0x1p-53, 0x1p-53, -1};  // whose sum depends on the order
  double wants = 0.5;
  for (int k = 0; k < others; ++k) wants += parts[(k + 1) % 4];
  std::fill(seen, seen + 64, 0.5);
  seen[32] = rank, seen[33] = parts[rank % 4];
  const std::uint64_t launches = launches_of([&] { exchange.reverse(Reduction::sum); });
  solver.driver.synchronize();
  if (rank > 0) return;
  EXPECT_EQ(launches, static_cast<std::uint64_t>(others));
  EXPECT_EQ(seen[0], wants);
  for (int k = 1; k <= others; ++k) EXPECT_EQ(seen[k], k + 0.5);
}

CASE("ghosts of one cell twice on each of several ranks are combined where they belong") {
  const Solver solver;
  constexpr int cells = 40;
  const int rank = solver.world.rank(), others = solver.ranks - 1;
  std::vector<global_index> wanted;
  for (int k = 0; rank > 0 && k < 2 * cells; ++k)
    wanted.push_back(k * (rank % 2 == 0 ? 7 : 3) % cells);
  const IndexedDomain domain(rank == 0 ? cells : 0, wanted, solver.world);
  const DeviceCells all(domain, cells, 3 * cells);
  double* const seen = all.seen;
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    Exchange exchange(build_pattern(domain), {all.field}, {transport});
    for (int k = 0; k < cells; ++k) seen[k] = k;
    for (int k = 0; rank > 0 && k < 2 * cells; ++k)
      seen[cells + k] = static_cast<double>(100 * (wanted[k] + 1));
    exchange.reverse(Reduction::sum);
    for (int k = 0; rank == 0 && k < cells; ++k) ASSERT_EQ(seen[k], k + 200.0 * (k + 1) * others);
  }
}

CASE("a rank's own periodic ghosts are combined between those of lower and of higher ranks") {
  const Solver solver;
  if (solver.ranks != 3) return;
  const CartesianDomain domain{
      {3, 4}, {.halo = 1, .periodic = {false, true}, .process_grid = {3, 1}}};
  const int rank = solver.world.rank();
  for (const std::string& transport : device_transports()) {
    CAPTURE(transport);
    Exchange exchange(domain, {view(domain, Solver::on_device(solver.u))}, {transport});
    std::fill(solver.u, solver.u + values, 0);
    if (rank == 0) solver.u[2 * 6 + 1] = -1;
    if (rank == 1) solver.u[6 + 1] = 1, solver.u[6 + 5] = 0x1p-60;
    if (rank == 2) solver.u[1] = 0x1p-60;
    exchange.reverse(Reduction::sum);
    if (rank == 1) {
      EXPECT_EQ(solver.u[6 + 1], 0x1p-59);
    }
  }
}

CASE("two transports combine the values of their neighbors in the order of ranks") {
  const DriverAgainstUs& driver = driver_against_us();
  if (driver.set_pools == nullptr || Communicator(MPI_COMM_WORLD).size() < 4) return;
  const WithPools whole(driver, 0);
  const Solver solver;
  constexpr int cells = 64;
  const int rank = solver.world.rank();
  // Small pieces of ranks 1 and 3 by MPI, a large one of rank 2 between them.
  std::vector<global_index> wanted;
  for (int k = 0; k < (rank == 2 ? cells : rank % 2); ++k) wanted.push_back(k);
  const IndexedDomain domain(rank == 0 ? cells : 0, wanted, solver.world);
  const DeviceCells all(domain, cells, 2 * cells);
  double* const seen = all.seen;
  Exchange exchange(build_pattern(domain), {all.field}, {"device_ipc|mpi+mpi"});
  const double of_rank[] = {0, -1, 0x1p-60, 0x1p-60};  // half as much if rank 2 is before rank 1
  std::fill(seen, seen + cells, 1);
  std::fill(seen + cells, seen + 2 * cells, rank < 4 ? of_rank[rank] : 0);
  exchange.reverse(Reduction::sum);
  solver.driver.synchronize();
  if (rank == 0) {
    EXPECT_EQ(seen[0], 0x1p-59);
    EXPECT_EQ(seen[1], 1);
  }
}

CASE("one launch writes the ghosts of all neighbors, and one combines those of all") {
  const DriverAgainstUs& driver = driver_against_us();
  if (driver.set_pools == nullptr) return;
  const WithPools whole(driver, 0);
  const Solver solver;
  const CartesianDomain domain{{4 * solver.ranks, 6},
      {.halo = 1, .periodic = {true, false}, .process_grid = {solver.ranks, 1}}};
  if (solver.ranks > 2) {
    Exchange exchange(domain, {view(domain, Solver::on_device(solver.u))}, {"device_ipc"});
    std::uint64_t forward = 9, reverse = 9;
    const auto count = [&](std::uint64_t& fewest, auto&& call) {
      MPI_Barrier(MPI_COMM_WORLD);
      const std::uint64_t before = driver.launches();
      call();
      fewest = std::min(fewest, driver.launches() - before);
    };
    // Neighbors that begin late are served on their own.
    for (int time = 0, late = 1; time < 2000 && late != 0; ++time) {
      count(forward, [&] { exchange(); });
      count(reverse, [&] { exchange.reverse(Reduction::replace); });
      const int late_here = forward > 1;
      MPI_Allreduce(&late_here, &late, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    EXPECT_EQ(forward, 1u);
    // Ranks that wait for their neighbors leave messages for them, by more launches.
    const char* const left = std::getenv("PARHELION_BEGIN_BYTES");
    if (left != nullptr && std::string(left) == "0") {
      EXPECT_EQ(reverse, 1u);
    }
  }
}

CASE("a rank that only sends serves neighbors that begin late") {
  const DriverAgainstUs& driver = driver_against_us();
  if (driver.set_pools == nullptr) return;
  const WithPools whole(driver, 0);
  const Solver solver;
  const int rank = solver.world.rank();
  const IndexedDomain domain(rank == 0 ? 2 : 0,
      rank == 0 ? std::vector<global_index>{} : std::vector<global_index>{1}, solver.world);
  double* const u = Solver::on_device(solver.u);
  Field field = view(domain, u, u + 4, 1);
  field.space = MemorySpace::device;
  Exchange exchange(build_pattern(domain), {field}, {solver.ranks > 1 ? "device_ipc" : "mpi"});
  for (int time = 0; time < 3; ++time) {
    std::fill(solver.u, solver.u + values, rank == 0 ? time : -1);
    MPI_Barrier(MPI_COMM_WORLD);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * rank));
    exchange();
    solver.driver.synchronize();
    EXPECT_EQ(solver.u[4], time);
  }
}

CASE("exchanges of one context share the kernel, and programs their lists") {
  if (driver_against_us().modules == nullptr) return;
  const Solver solver;
  const std::size_t before = solver.driver.modules();
  {
    const Exchange first(solver.domain, {solver.field()}, {"mpi"});
    const Exchange second(solver.domain, {solver.field()}, {"mpi"});
    EXPECT_EQ(solver.driver.modules(), before + 1);
  }
  EXPECT_EQ(solver.driver.modules(), before);
  if (solver.ranks == 1) return;
  constexpr global_index many = 10000;
  const int next = (solver.world.rank() + 1) % solver.ranks;
  std::vector<global_index> wanted;
  for (global_index k = 0; k < many; k += 2) wanted.push_back(next * many + k * 7919 % many);
  const IndexedDomain domain(many, wanted, solver.world);
  const DeviceCells all(domain, many, 3 * many);
  const std::size_t copied = solver.driver.uploaded();
  const Exchange exchange(build_pattern(domain), {all.field}, {"mpi"});
  // Packing and unpacking, forward and reverse.
  EXPECT_LT(solver.driver.uploaded() - copied, 4 * many * sizeof(local_index) / 2 + 20000);
}

CASE("an MPI that does not move device memory is found out by a trial") {
  if (driver_against_us().alive == nullptr) return;
  const std::string kind = std::getenv("MOVING_MPI") != nullptr ? std::getenv("MOVING_MPI") : "";
  const bool is_made = std::getenv("PARHELION_TEST_PRELOAD") != nullptr;
  const bool moves = is_made && (kind.empty() || kind == "silent");
  const Solver solver;
  if (solver.ranks == 1) return;
  const std::string why = "transport device_mpi: this MPI does not move device memory between";
  const auto named = [&](const CartesianDomain& of, double* array) {
    return error_of([&] { Exchange(of, {view(of, array)}, {"device_mpi"}); });
  };
  // At most 64 bytes to each neighbor, or twice as many to the only one.
  const bool is_small = kind == "small" && solver.ranks > 2;
  const std::string error = named(solver.domain, Solver::on_device(solver.u));
  EXPECT_EQ(holds(error, why), !moves && !is_small) << error;
  const CartesianDomain large(
      {4 * solver.ranks, 200}, {.halo = 1, .periodic = true, .process_grid = {solver.ranks, 1}});
  const auto memory = allocate_slow(6 * 202 * sizeof(double));
  double* const array = Solver::on_device(reinterpret_cast<double*>(memory.get()));
  EXPECT_EQ(holds(named(large, array), why), !moves);
  EXPECT_EQ(solver.driver.reachable(), 0u);
}

CASE("auto tries whether MPI moves device memory if MPI says so, or if the list asks for it") {
  if (driver_against_us().alive == nullptr) return;
  const std::string kind = std::getenv("MOVING_MPI") != nullptr ? std::getenv("MOVING_MPI") : "";
  const bool is_made = std::getenv("PARHELION_TEST_PRELOAD") != nullptr;
  const bool moves = is_made && (kind.empty() || kind == "silent");
  const Solver solver;
  // Of the small kind, MPI moves forward messages, but not the reverse ones of two ranks.
  const bool is_small = kind == "small" && solver.ranks > 2;
  if (solver.ranks == 1) return;
  // On a busy machine, a race may end before the last candidate.
  for (int attempt = 0, is_asked = 0; is_asked < 2 && attempt < 100; ++attempt) {
    CAPTURE(is_asked);
    MPI_Comm handle = MPI_COMM_NULL;  // without a choice that was learned
    MPI_Comm_dup(MPI_COMM_WORLD, &handle);
    const std::string others = "-device_ipc,-mpi_neighbor,-ucx";
    setenv("PARHELION_AUTO", (others + (is_asked != 0 ? ",+device_mpi" : "")).c_str(), 1);
    {
      const CartesianDomain domain({4 * solver.ranks, 6},
          {.halo = 1, .periodic = true, .process_grid = {solver.ranks, 1}}, Communicator(handle));
      const Field field = view(domain, Solver::on_device(solver.u));
      Exchange exchange(domain, {field});
      EXPECT_EQ(solver.driver.reachable(), 0u);
      const std::string told = exchange.explain();
      const bool is_tried = is_asked != 0 || (is_made && kind != "silent");
      const bool is_last = is_tried == holds(told, "device_mpi") || attempt % 50 == 49;
      if (is_last) {
        EXPECT_EQ(holds(told, "device_mpi"), is_tried) << told;
        ++is_asked;
      }
      if (is_tried && is_last) {
        EXPECT_EQ(holds(told, "left out: rank 0: transport device_mpi"), !moves && !is_small)
            << told;
      }
      for (int time = 0; time < 4; ++time) {
        solver.start(time);
        exchange(field);
        solver.expect_filled(time);
      }
    }
    unsetenv("PARHELION_AUTO");
    MPI_Comm_free(&handle);
  }
}

CASE("addresses that the host does not have are shielded, and given back") {
  const auto bytes = static_cast<std::size_t>(2 * sysconf(_SC_PAGESIZE));
  const auto map = [bytes](void* at, int how) {
    return mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
  };
  void* const first = map(nullptr, 0);
  munmap(first, bytes);
  auto shielded = shield(static_cast<std::byte*>(first), static_cast<byte_count>(bytes));
  *static_cast<char*>(first) = 1;
  shielded.reset();
  EXPECT_EQ(map(first, MAP_FIXED_NOREPLACE), first);
  munmap(first, bytes);
}

CASE("nothing is left with the driver in the end") {
  if (driver_against_us().alive == nullptr) return;
  EXPECT_EQ(alive_now(), 0u);
}
