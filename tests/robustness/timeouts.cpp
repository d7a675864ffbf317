// A neighbor that does not answer: the error names the rank, the place and the operation.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "robustness/work.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

struct Refusal {
  std::string text;
  ErrorKind kind = ErrorKind::value;
};

template <class Call>
Refusal refusal_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
  return {};
}

// Only rank 0 begins exchange number 2; the others wait for its error.
Refusal left_alone(Exchange& exchange, int rank) {
  exchange();
  Refusal refusal;
  if (rank == 0) refusal = refusal_of([&] { exchange(); });
  MPI_Barrier(MPI_COMM_WORLD);
  return refusal;
}

}  // namespace

CASE(
    "a neighbor that does not begin is named, with the exchange, the direction and the state of "
    "both") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain(
      {12, 8, 8}, {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1, 1}});
  const bool on_one_node = comm.node().size() == comm.size();
  for (const Route& route : all_routes()) {
    if (route.transport == "auto") continue;  // its choice is unknown here
    CAPTURE(route.transport);
    Work work(domain, route.transport, 0, {.timeout_s = 0.3});
    const Refusal refusal = left_alone(work.exchange(), comm.rank());
    if (comm.rank() != 0 || comm.size() == 1) continue;
    CAPTURE(refusal.text);
    EXPECT_EQ(refusal.kind, ErrorKind::timeout);
    for (const char* part : {"forward", "of rank 0", "exchange number ", "PARHELION_TIMEOUT"})
      EXPECT_TRUE(holds(refusal.text, part));
    EXPECT_TRUE(holds(refusal.text, "rank 1") ||
                holds(refusal.text, "ranks 1,"));  // node_aware may combine messages of a node
    if (on_one_node && route.transport.starts_with("shared"))
      EXPECT_TRUE(holds(refusal.text, "it has written number 1, it has begun number 1"));
    if (on_one_node && route.transport.starts_with("staged_shared"))
      EXPECT_TRUE(holds(refusal.text, "it has sent number 1"));
    EXPECT_TRUE(holds(refusal_of([&] { work.exchange()(); }).text, "failed before"));
  }
}

CASE(
    "after an exchange was given up with large messages under way, a new one between the same "
    "ranks works") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain({2 * comm.size(), 128, 128},
      {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1, 1}});
  for (const Route& route : all_routes()) {
    if (route.transport == "auto") continue;  // its choice is unknown here
    CAPTURE(route.transport);
    left_alone(Work(domain, route.transport, 0, {.timeout_s = 0.1}).exchange(), comm.rank());
    Work again(domain, route.transport, 1, {.timeout_s = 60});
    EXPECT_EQ(again.round_trip(Direction::forward, 1), "");
  }
}

// Each poll of a wait on MPI yields the core: with others' threads on it, for milliseconds.
CASE("the time limit holds on a busy machine") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const CartesianDomain domain({12, 8, 8}, {.halo = 1, .process_grid = {comm.size(), 1, 1}});
  Work work(domain, "mpi", 0, {.timeout_s = 0.5});
  std::atomic<bool> done{false};
  std::vector<std::thread> others;
  if (comm.rank() == 0)
    for (unsigned k = 0; k < 8 * std::thread::hardware_concurrency(); ++k)
      others.emplace_back([&] {
        while (!done) continue;
      });
  const auto start = std::chrono::steady_clock::now();
  const Refusal refusal = left_alone(work.exchange(), comm.rank());
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  done = true;
  for (std::thread& each : others) each.join();
  if (comm.rank() == 0) EXPECT_TRUE(holds(refusal.text, "no answer within 0.5 s"));
  EXPECT_LT(waited.count(), 5);
}

CASE("memory of a given-up exchange is not used again: neighbors in a later stage write there") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 4) return;
  const CartesianDomain domain(
      {12, 8}, {.halo = 1, .process_grid = {2, 2}, .algorithm = Algorithm::by_dimension});
  int lonely = 3 - build_pattern(domain).stages[0][0].rank;  // waits for rank 3 in stage 0
  MPI_Bcast(&lonely, 1, MPI_INT, 0, MPI_COMM_WORLD);
  using Values = std::vector<std::uint64_t, NodeAllocator<std::uint64_t>>;
  for (const Route& route : all_routes()) {
    if (route.transport == "auto") continue;  // its choice is unknown here
    CAPTURE(route.transport);
    std::optional<Work> work(
        std::in_place, domain, route.transport, 0, ExchangeOptions{.timeout_s = 0.1});
    work->exchange()();
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<Values> reused;
    if (comm.rank() == lonely) {
      EXPECT_EQ(refusal_of([&] { work->exchange()(); }).kind, ErrorKind::timeout);
      work.reset();
      for (std::size_t size = 8; size <= 4096; size *= 2)
        for (int i = 0; i < 16; ++i) reused.emplace_back(size, ~std::uint64_t{0});
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() != lonely && comm.rank() != 3) refusal_of([&] { work->exchange()(); });
    MPI_Barrier(MPI_COMM_WORLD);
    for (const Values& values : reused) EXPECT_EQ(values, Values(values.size(), ~std::uint64_t{0}));
  }
}

CASE("neighbors that come one after the other, each in time, are waited for") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 3) return;
  const CartesianDomain domain({12, 8}, {.halo = 1, .periodic = true, .process_grid = {3, 1}});
  for (const char* transport : {"mpi", "shared", "staged_shared"}) {
    CAPTURE(transport);
    for (const bool check : {false, true}) {
      Work work(domain, transport, 0, {.timeout_s = 2, .check = check});
      MPI_Barrier(MPI_COMM_WORLD);
      std::this_thread::sleep_for(comm.rank() * std::chrono::milliseconds(1250));
      EXPECT_EQ(work.round_trip(Direction::forward, 1), "");
    }
  }
}

CASE("the time for which a rank was stopped does not count as its neighbor's delay") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 2) return;
  using std::chrono::milliseconds;
  const CartesianDomain domain({12, 8}, {.halo = 1, .periodic = true, .process_grid = {2, 1}});
  pid_t waiting = getpid();
  MPI_Bcast(&waiting, sizeof waiting, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (const char* transport : {"mpi", "shared", "staged_shared"}) {
    if (comm.node().size() == 1 && std::string_view(transport) != "mpi")
      continue;  // one rank per node
    CAPTURE(transport);
    Work work(domain, transport, 0, {.timeout_s = 1.5});
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() == 1) {
      std::this_thread::sleep_for(milliseconds(400));  // rank 0 waits in its exchange
      kill(waiting, SIGSTOP);
      std::this_thread::sleep_for(milliseconds(2000));
      kill(waiting, SIGCONT);
      std::this_thread::sleep_for(
          milliseconds(200));  // it checks the time before the message arrives
    }
    EXPECT_EQ(work.round_trip(Direction::forward, 1), "");
  }
}

CASE("a rank that has no descriptor left to watch a neighbor with does not take it for lost") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 3) return;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const auto first = [](int rank) { return std::vector<global_index>{3 * rank}; };
  const std::vector<global_index> none;
  // Rank 1 reads from rank 0, then from rank 2, a new neighbor.
  const IndexedDomain near(3, comm.rank() == 1 ? first(0) : none, own),
      far(3, comm.rank() == 1 ? first(2) : none, own);
  std::vector<double> cells(4, comm.rank());
  const auto made = [&](const IndexedDomain& domain) {
    return Exchange(
        build_pattern(domain), {view(domain, cells.data())}, {.transport = "mpi", .timeout_s = 60});
  };
  made(near);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none_left{0, limit.rlim_max};
  if (comm.rank() == 1) setrlimit(RLIMIT_NOFILE, &none_left);
  Exchange exchange = made(far);
  MPI_Barrier(own);
  if (comm.rank() == 2) std::this_thread::sleep_for(std::chrono::seconds(1));
  const Refusal refusal = refusal_of([&] { exchange(); });
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(refusal.text, "");
  if (comm.rank() == 1) EXPECT_EQ(cells[3], 2);
  MPI_Comm_free(&own);
}

CASE("an exchange that is on time does not mind its time limit") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain({12, 8}, {.halo = 1, .periodic = true});
  for (const Route& route : all_routes()) {
    Work work(domain, route.transport, 0, {.timeout_s = 60});
    for (int round = 0; round < 3; ++round)
      EXPECT_EQ(work.round_trip(Direction::forward, round), "");
  }
}
