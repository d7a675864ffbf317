// Mistakes that once hung or went unnoticed, and their errors: access during an exchange, stale
// ghosts, different set-up calls per rank, missing calls of a rank.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "parhelion/parhelion.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

struct Told {
  std::string text;
  ErrorKind kind = ErrorKind::value;
};

template <class Call>
Told told_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.what(), error.kind()};
  }
  return {};
}

// A periodic row with 8 cells per rank.
class Ring {
 public:
  static constexpr int cells = 8;

  explicit Ring(const Route& route, int components = 1, bool check = true)
      : domain_({cells * Communicator(MPI_COMM_WORLD).size()}, {.halo = 1, .periodic = true}),
        values_((cells + 2) * static_cast<std::size_t>(components),
            route.memory == Memory::node_shared),
        exchange_(build_pattern(domain_), {view(domain_, values_.data(), {Order::c, components})},
            {.transport = route.transport, .timeout_s = 60, .check = check}) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_.data()[i] = 100 * rank() + static_cast<double>(i);
  }
  double& operator[](std::size_t i) { return values_.data()[i]; }
  Exchange& exchange() { return exchange_; }
  int rank() const { return domain_.communicator().rank(); }
  int size() const { return domain_.communicator().size(); }
  int before() const { return (rank() + size() - 1) % size(); }

 private:
  class Values {
   public:
    Values(std::size_t count, bool node_shared) : count_(count) {
      if (node_shared)
        memory_ = allocate_node_shared(static_cast<byte_count>(count * sizeof(double)));
      else memory_ = {new std::byte[count * sizeof(double)], std::default_delete<std::byte[]>()};
    }
    double* data() { return reinterpret_cast<double*>(memory_.get()); }
    std::size_t size() const { return count_; }

   private:
    std::size_t count_;
    std::shared_ptr<std::byte> memory_;
  };
  CartesianDomain domain_;
  Values values_;
  Exchange exchange_;
};

// Sets the time limit by environment variable, for calls without options.
class Limit {
 public:
  explicit Limit(const char* seconds) { setenv("PARHELION_TIMEOUT", seconds, 1); }
  ~Limit() { unsetenv("PARHELION_TIMEOUT"); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
};

// A separate communicator, because its pending operations may never complete.
MPI_Comm own_world() {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  return own;
}

bool is_last(const Communicator& comm) { return comm.rank() + 1 == comm.size(); }

}  // namespace

CASE("set-up with checks has their time limit, unless another one is told") {
  EXPECT_EQ(setup_limit({.check = true}), 30);
  EXPECT_EQ(setup_limit({.timeout_s = 2, .check = true}), 2);
  EXPECT_EQ(setup_limit({}), 0);
  const Limit limit("1");
  EXPECT_EQ(setup_limit({.check = true}), 0);
}

CASE(
    "checked: ghosts hold what no program means until the exchange has ended, over every "
    "transport") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    Ring ring(route);
    for (int turn = 0; turn < 3; ++turn) {
      ring[0] = ring[Ring::cells + 1] = -1;
      MPI_Barrier(MPI_COMM_WORLD);
      if (ring.rank() != 0)
        MPI_Barrier(MPI_COMM_WORLD);  // rank 0 checks before any neighbor has sent
      auto step = ring.exchange().begin();
      if (ring.rank() == 0) {
        if (ring.size() > 1) EXPECT_TRUE(std::isnan(ring[0]));
        else EXPECT_EQ(ring[0],
            ring[Ring::cells]);  // periodic copies are local and immediate
        MPI_Barrier(MPI_COMM_WORLD);
      }
      step.end();
      EXPECT_EQ(ring[0], 100 * ring.before() + Ring::cells);
    }
  }
}

CASE(
    "checked: an owned cell that is written between begin and end is told, where a neighbor reads "
    "it") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    Ring ring(route, 2);
    const std::size_t last = 2 * Ring::cells + 1;  // component 1 of the last owned cell
    {
      auto step = ring.exchange().begin();
      ring[2 * 4] += 1;  // not a ghost of any rank
      EXPECT_EQ(told_by([&] { step.end(); }).text, "");
    }
    auto step = ring.exchange().begin();
    if (ring.rank() == 0) ring[last] = 7.5;
    const std::string text = told_by([&] { step.end(); }).text;
    CAPTURE(text);
    if (ring.rank() != 0) EXPECT_EQ(text, "");
    else
      for (const char* part : {"field 0: owned cell (7), component 1 of rank 0",
               "between begin and end of a forward exchange",
               "(17 at begin, 7.5 at end): finish writing before begin, or write after end"})
        EXPECT_TRUE(holds(text, part));
    MPI_Barrier(MPI_COMM_WORLD);  // the neighbor may have received the write or not
    EXPECT_EQ(told_by([&] { ring.exchange()(); }).text, "");
    if (ring.before() == 0 && ring.size() > 1) EXPECT_EQ(ring[1], 7.5);
  }
}

CASE(
    "checked: a ghost that is written in the middle of a reverse exchange is told; an unchecked "
    "one keeps quiet") {
  for (const bool check : {true, false}) {
    CAPTURE(check);
    Ring ring({"mpi", Memory::ordinary}, 1, check);
    ring.exchange()();
    auto step = ring.exchange().begin_reverse(Reduction::replace);
    if (ring.rank() == 0) ring[0] = 3.5;
    const std::string text = told_by([&] { step.end(); }).text;
    CAPTURE(text);
    EXPECT_EQ(holds(text, "the ghost of cell (" + std::to_string(Ring::cells * ring.size() - 1) +
                              ") of rank " + std::to_string(ring.before()) + " on rank 0"),
        check && ring.rank() == 0);
  }
}

CASE("checked: cells of an index map are told by their global ids") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const int before = (comm.rank() + comm.size() - 1) % comm.size();
  const IndexedDomain domain(5, {5 * before + 3});
  std::vector<int> values(6, comm.rank());
  Exchange exchange(build_pattern(domain), {view(domain, values.data())},
      {.transport = "mpi", .timeout_s = 60, .check = true});
  auto step = exchange.begin();
  values[3] = 9;
  EXPECT_TRUE(
      holds(told_by([&] { step.end(); }).text, "owned cell " + std::to_string(5 * comm.rank() + 3) +
                                                   " of rank " + std::to_string(comm.rank())));
}

CASE("checked: ghosts of a map's arrays hold what no program means, too") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const int before = (comm.rank() + comm.size() - 1) % comm.size();
  const IndexMap map(IndexedDomain(5, {5 * before + 3}), {.timeout_s = 60, .check = true});
  std::vector<double> values(6, comm.rank());
  const CellValues array(values.data());
  map.forward({array});
  EXPECT_EQ(values[5], before);
  map.begin_forward({array});
  EXPECT_TRUE(std::isnan(values[5]));
  map.end({array});
  EXPECT_EQ(values[5], before);
}

CASE("stale ghosts are found, told with both values, and left as they are") {
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    Ring ring(route, 1, false);
    ring.exchange()();
    EXPECT_TRUE(ring.exchange().stale().empty());
    EXPECT_EQ(told_by([&] { ring.exchange().check(); }).text, "");
    if (ring.rank() == ring.before()) continue;
    if (ring.rank() == 0) ring[Ring::cells] = 0.25;
    const StaleGhosts found = ring.exchange().stale();
    const bool reads_it = ring.before() == 0;
    EXPECT_EQ(found.count, std::vector<global_index>{reads_it});
    const double kept = ring[0];
    if (reads_it) {
      ASSERT_EQ(found.first.size(), 1);
      EXPECT_EQ(found.first[0].owner, 0);
      EXPECT_EQ(found.first[0].cell, std::vector<global_index>{Ring::cells - 1});
      EXPECT_EQ(found.first[0].there, "0.25");
    }
    const std::string text = told_by([&] { ring.exchange().check(); }).text;
    CAPTURE(text);
    EXPECT_TRUE(holds(text,
        "rank 1: field 0: the ghost of cell (7) of rank 0 is 8 on rank 1 and "
        "0.25 on its owner (1 values"));
    EXPECT_EQ(ring[0], kept);
  }
}

CASE(
    "stale ghosts: equal NaNs are no difference, and corners that come in stages are compared with "
    "their owners") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Algorithm algorithm : {Algorithm::standard, Algorithm::by_dimension}) {
    const CartesianDomain domain({4 * comm.size(), 4},
        {.halo = 1, .periodic = true, .process_grid = {comm.size(), 1}, .algorithm = algorithm});
    std::vector<double> u(6 * 6, std::numeric_limits<double>::quiet_NaN());
    Exchange exchange(build_pattern(domain), {view(domain, u.data())});
    exchange();
    EXPECT_TRUE(exchange.stale().empty());
    u[0] = 1;
    const StaleGhosts found = exchange.stale();
    EXPECT_EQ(found.count, std::vector<global_index>{1});
    EXPECT_EQ(found.first.at(0).here, "1");
  }
}

CASE("ranks that make different set-up calls are told at once which") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const auto start = std::chrono::steady_clock::now();
  const Told told = told_by([&] {
    if (comm.rank() == 0) CartesianDomain({64}, {.halo = 1});
    else IndexedDomain(4, {});
  });
  CAPTURE(told.text);
  EXPECT_EQ(told.kind, ErrorKind::communication);
  EXPECT_TRUE(holds(told.text, "rank 0 is in CartesianDomain and rank 1 in IndexedDomain"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(CartesianDomain({64}, {.halo = 1}).extents().front(), 64);  // the ranks can continue
}

CASE(
    "different calls are told where the first of them sends messages before it agrees on "
    "anything") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() < 2) return;
  const IndexedDomain domain(4, {(4 * comm.rank() + 4) % (4 * comm.size())});
  const CartesianDomain grid({8 * comm.size()}, {.halo = 1});
  std::vector<double> u(10);
  const std::string text = told_by([&] {
    if (comm.rank() == 0) build_pattern(domain);
    else Exchange(build_pattern(grid), {view(grid, u.data())});
  }).text;
  EXPECT_TRUE(holds(text, "rank 0 is in build_pattern and rank 1 in Exchange"));
}

CASE(
    "a set-up call that a rank leaves out ends after the time limit, and the others are told who") {
  const MPI_Comm world = own_world();
  const Communicator comm(world);
  if (comm.size() > 1) {
    Told told;
    if (!is_last(comm)) {
      const Limit limit("0.5");
      told = told_by([&] { CartesianDomain({64}, {.halo = 1}, comm); });
      CAPTURE(told.text);
      EXPECT_EQ(told.kind, ErrorKind::timeout);
      EXPECT_TRUE(holds(told.text,
          comm.size() == 2 ? "rank 0 is in CartesianDomain (its call 1); rank 1 has not called"
                           : "are in CartesianDomain (its call 1)"));
      EXPECT_TRUE(holds(told.text, "rank " + std::to_string(comm.size() - 1) + " has not called"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

CASE("who has waited five seconds for others in a collective call says where all are, once") {
  const MPI_Comm world = own_world();
  const Communicator all(MPI_COMM_WORLD);
  if (all.size() < 2) return;
  for (const bool first_call : {true, false}) {
    CAPTURE(first_call);
    testing::internal::CaptureStderr();
    if (is_last(all)) std::this_thread::sleep_for(std::chrono::milliseconds(6000));
    if (first_call) const Communicator comm(world);
    else CartesianDomain({64}, {.halo = 1}, world);
    const std::string told = testing::internal::GetCapturedStderr();
    CAPTURE(told);
    const bool tells = first_call ? !is_last(all) : all.rank() == 0;
    EXPECT_EQ(tells, holds(told, "not all ranks arrived within 5 s"));
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), tells);
    if (tells && !first_call) {
      EXPECT_TRUE(holds(told, "in CartesianDomain (its call "));
      EXPECT_TRUE(holds(told, "rank " + std::to_string(all.size() - 1) + " has not called"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

CASE("the first call on a communicator, too, ends after the time limit") {
  const MPI_Comm world = own_world();
  const Communicator all(MPI_COMM_WORLD);
  if (all.size() < 2) return;
  if (all.rank() == 0) {
    const Limit limit("0.3");
    const Told told = told_by([&] { const Communicator first(world); });
    CAPTURE(told.text);
    EXPECT_EQ(told.kind, ErrorKind::timeout);
    EXPECT_TRUE(holds(told.text, "rank 0 is in the first call"));
    const char* const missing[] = {"rank 1 has", "ranks 1, 2 have", "ranks 1 to 3 have"};
    if (all.size() <= 4)
      EXPECT_TRUE(holds(told.text, missing[all.size() - 2] + std::string(" not called")));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
