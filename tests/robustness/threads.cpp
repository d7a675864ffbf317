// Several threads of a process, each with its own exchanges.
#include <cstdlib>
#include <thread>

#include "robustness/work.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

bool threads_allowed() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_MULTIPLE) return true;
  say("skipped: this MPI does not provide MPI_THREAD_MULTIPLE");
  return false;
}

constexpr int thread_count = 3;
constexpr int repetitions = 60;
constexpr int lives = 4;

// Errors that the main thread reports: GoogleTest's checks would serialize the threads.
struct Finding {
  std::string text;
};

void repeat(Work& work, Finding& finding) {
  try {
    for (int round = 0; round < repetitions && finding.text.empty(); ++round)
      finding.text =
          work.round_trip(round % 3 == 2 ? Direction::reverse : Direction::forward, round);
  } catch (const std::exception& error) {
    finding.text = error.what();
  }
}

void exchange_alone(MPI_Comm user, const std::string& transport, int number, Finding& finding) {
  try {
    const CartesianDomain domain({10, 9}, {.halo = 1, .periodic = true}, user);
    Work work(domain, transport, number);
    repeat(work, finding);
  } catch (const std::exception& error) {
    finding.text = error.what();
  }
}

void live_and_die(MPI_Comm user, const std::string& transport, int number, Finding& finding) {
  try {
    const CartesianDomain domain({10, 9}, {.halo = 1, .periodic = true}, user);
    for (int life = 0; life < lives && finding.text.empty(); ++life) {
      Work work(domain, transport, number);
      for (int round = 0; round <= 5 * number && finding.text.empty();
          ++round)  // some threads exchange while others construct and destroy
        finding.text =
            work.round_trip(round % 3 == 2 ? Direction::reverse : Direction::forward, round);
    }
  } catch (const std::exception& error) {
    finding.text = error.what();
  }
}

// Some MPI libraries mix up communicators that threads create concurrently.
bool makes_communicators(const std::string& transport) {
  return transport.find("mpi_neighbor") != std::string::npos;
}

// A halo exchange, three exchanges of an index map and sums of shared points, all pending at once.
class Everything {
 public:
  Everything(MPI_Comm user, const std::string& transport, int number)
      : comm_(user), number_(number), options_{.transport = transport, .progress_thread = true} {}

  /// Returns "" if every value is correct. The first call is collective.
  std::string round_trip(int round) {
    work_.prepare(round % 2 ? Direction::reverse : Direction::forward, round);
    fill(round);
    work_.begin();
    map_.begin_forward({from_owners_});
    map_.begin_reverse({to_owners_}, Reduction::sum);
    map_.begin_reduce_shared({shared_}, Reduction::sum);
    Step step = sums_.begin();
    if (number_ % 2) step.end();
    map_.end({to_owners_});
    work_.end();
    map_.end({shared_});
    map_.end({from_owners_});
    if (number_ % 2 == 0) step.end();
    return all_right(round) ? work_.difference() : "a value of a map or a sum is wrong";
  }

 private:
  static constexpr int own = 4, read = 2;  // owned cells; cells read from the next rank

  // Value of a cell; a shared cell has a different value on each of its ranks.
  double value(int rank, int cell, int round) const {
    return 1000 * round + 100 * number_ + 10 * rank + cell;
  }
  void fill(int round) {
    for (int i = 0; i < own + read; ++i) {
      const auto at = static_cast<std::size_t>(i);
      from_owners_[at] = i < own ? value(rank_, i, round) : -1;
      to_owners_[at] = i < own ? i : round;
      shared_[at] = static_cast<float>(value(rank_, i, round));
    }
    for (int j = 0; j <= 3; ++j)
      for (int i = 0; i <= 2; ++i) mass_(2 * rank_ + i, j) = rank_ + round;
  }
  bool all_right(int round) {
    bool right = true;
    for (int i = 0; i < read; ++i) {
      const auto cell = static_cast<std::size_t>(i), ghost = cell + own;
      right = right && from_owners_[ghost] == value(after_, i, round) &&
              to_owners_[cell] == i + round &&
              shared_[cell] == value(rank_, i, round) + value(before_, own + i, round) &&
              shared_[ghost] == value(rank_, own + i, round) + value(after_, i, round);
    }
    for (int j = 0; j <= 3; ++j)
      right = right && mass_(2 * rank_, j) == before_ + rank_ + 2 * round &&
              mass_(2 * rank_ + 1, j) == rank_ + round &&
              mass_(2 * rank_ + 2, j) == rank_ + after_ + 2 * round;
    return right;
  }

  Communicator comm_;
  int number_;
  ExchangeOptions options_;
  int rank_ = comm_.rank(), ranks_ = comm_.size(), before_ = (rank_ + ranks_ - 1) % ranks_,
      after_ = (rank_ + 1) % ranks_;
  CartesianDomain cells_{{10, 9}, {.halo = 1, .periodic = true}, comm_};
  Work work_{cells_, options_.transport, number_, options_};
  IndexMap map_{IndexedDomain(own, {own * after_, own * after_ + 1}, comm_), options_};
  std::vector<double> from_owners_ = std::vector<double>(own + read);
  std::vector<std::int32_t> to_owners_ = std::vector<std::int32_t>(own + read);
  std::vector<float> shared_ = std::vector<float>(own + read);
  CartesianDomain points_{
      {2 * ranks_, 3}, {.periodic = {true, false}, .process_grid = {ranks_, 1}}, comm_};
  Array<double> mass_ = make_array<double>(points_, {.stagger = 1});
  PointSums sums_{points_, {view(mass_)}, options_};
};

void exchange_everything(
    MPI_Comm user, const std::string& transport, int number, Finding& finding) {
  try {
    Everything everything(user, transport, number);
    for (int round = 1; round <= repetitions && finding.text.empty(); ++round)
      finding.text = everything.round_trip(round);
  } catch (const std::exception& error) {
    finding.text = error.what();
  }
}

}  // namespace

CASE(
    "threads have halos, index maps and sums of points under way that a progress thread gets on, "
    "over every transport") {
  if (!threads_allowed()) return;
  for (const Route& route : routes_for(5, 3)) {
    if (makes_communicators(route.transport) || !takes_any_array(route)) continue;
    CAPTURE(route.transport);
    std::vector<MPI_Comm> comms(2);
    for (MPI_Comm& comm : comms) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      Communicator(comm).node();
    }
    std::vector<Finding> findings(2);
    std::thread second(exchange_everything, comms[1], route.transport, 1, std::ref(findings[1]));
    exchange_everything(comms[0], route.transport, 0, findings[0]);
    second.join();
    for (const Finding& finding : findings) EXPECT_EQ(finding.text, "");
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
}

CASE(
    "threads make, use and destroy exchanges at the same time, each on a communicator of its own, "
    "over every transport") {
  if (!threads_allowed()) return;
  constexpr int all = thread_count + 1;
  for (const Route& route : routes_for(6, 3)) {
    if (makes_communicators(route.transport)) continue;
    CAPTURE(route.transport);
    std::vector<MPI_Comm> comms(all);
    for (MPI_Comm& comm : comms) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      Communicator(comm).node();
    }
    std::vector<Finding> findings(all);
    std::vector<std::thread> threads;
    for (int t = 0; t < all; ++t)
      threads.emplace_back(live_and_die, comms[static_cast<std::size_t>(t)], route.transport, t,
          std::ref(findings[static_cast<std::size_t>(t)]));
    for (std::thread& thread : threads) thread.join();
    for (const Finding& finding : findings) EXPECT_EQ(finding.text, "");
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
}

CASE("threads exchange at the same time, each on a communicator of its own") {
  if (!threads_allowed()) return;
  for (const std::string transport : {"shared+mpi", "staged_shared+mpi", "mpi", "ucx"}) {
    if (transport == "ucx" && !is_usable(transport)) continue;
    CAPTURE(transport);
    std::vector<MPI_Comm> comms(thread_count);
    for (MPI_Comm& comm : comms) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      Communicator(comm).node();  // in turn: MPICH 5.0.2 can mix up concurrent creations
    }
    std::vector<Finding> findings(thread_count);
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
      threads.emplace_back(exchange_alone, comms[static_cast<std::size_t>(t)], transport, t,
          std::ref(findings[static_cast<std::size_t>(t)]));
    for (std::thread& thread : threads) thread.join();
    for (const Finding& finding : findings) EXPECT_EQ(finding.text, "");
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
}

CASE("threads exchange at the same time on one communicator, over every transport") {
  if (!threads_allowed()) return;
  const CartesianDomain domain({10, 9}, {.halo = 1, .periodic = true});
  for (const Route& route : all_routes()) {
    CAPTURE(route.transport);
    std::vector<Work> works;  // one thread constructs them, in the same order on all ranks
    for (int t = 0; t < thread_count; ++t) works.emplace_back(domain, route.transport, t);
    std::vector<Finding> findings(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < thread_count; ++t)
      threads.emplace_back(repeat, std::ref(works[t]), std::ref(findings[t]));
    for (std::thread& thread : threads) thread.join();
    for (const Finding& finding : findings) EXPECT_EQ(finding.text, "");
  }
}

CASE("threads that share large copies change no value, over every transport") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain({48 * comm.size(), 64, 64},
      {.halo = 2, .periodic = true, .process_grid = {comm.size(), 1, 1}});
  for (const Route& route : routes_for(0, 4)) {
    CAPTURE(route.transport);
    Work work(domain, route.transport, 0, {.threads = 3});
    EXPECT_TRUE(holds(work.exchange().explain(), "by 3 threads"));
    for (int round = 0; round < 6; ++round)
      ASSERT_EQ(
          work.round_trip(round % 3 == 2 ? Direction::reverse : Direction::forward, round), "");
  }
}

CASE("threads look together at cells that a neighbor reads twice") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  CartesianOptions options{
      .halo = HaloWidth({96, 0, 0}, {40, 0, 0}), .process_grid = {ranks, 1, 1}};
  options.periodic.along[0] = true;
  const CartesianDomain domain({96 * ranks, 16, 16}, options);
  Work work(domain, "mpi", 0, {.threads = 2});
  EXPECT_EQ(work.round_trip(Direction::forward, 0), "");
  work.exchange().check();
}

CASE("numbers of threads that make no sense are refused by all ranks") {
  const CartesianDomain domain({10, 9}, {.halo = 1, .periodic = true});
  const bool odd = Communicator(MPI_COMM_WORLD).rank() == Communicator(MPI_COMM_WORLD).size() - 1;
  EXPECT_TRUE(holds(error_of([&] { Work(domain, "mpi", 0, {.threads = odd ? -2 : 1}); }),
      "cannot copy by -2 threads"));
  setenv("PARHELION_THREADS", "two", 1);
  EXPECT_TRUE(holds(error_of([&] { Work(domain, "mpi", 0); }), "PARHELION_THREADS is 'two'"));
  setenv("PARHELION_THREADS", "2", 1);
  EXPECT_TRUE(holds(Work(domain, "mpi", 0).exchange().explain(), "by 2 threads"));
  unsetenv("PARHELION_THREADS");
}

CASE("threads in collective calls of one communicator are refused on every rank, or all work") {
  if (!threads_allowed()) return;
  const auto call = [](Finding& finding, int rounds, const auto& make) {
    for (int round = 0; round < rounds; ++round) try {
        make();
      } catch (const std::exception& error) {
        if (!holds(error.what(), "another thread") && !holds(error.what(), "different calls"))
          finding.text = error.what();
      }
  };
  setenv("PARHELION_TIMEOUT", "20", 1);
  for (int life = 0; life < 20; ++life) {
    MPI_Comm user = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &user);
    const bool first_use = life > 0;
    if (!first_use) Communicator(user).node();
    const int rounds = first_use ? 1 : repetitions;
    Finding of_maps, of_grids;
    std::thread other([&] { call(of_maps, rounds, [&] { IndexedDomain(3, {}, user); }); });
    call(of_grids, rounds, [&] { CartesianDomain({10, 9}, {.halo = 1}, user); });
    other.join();
    ASSERT_EQ(of_maps.text + of_grids.text, "");
    EXPECT_EQ(CartesianDomain({10, 9}, {.halo = 1}, user).dimensions(), 2);
    MPI_Comm_free(&user);
  }
  unsetenv("PARHELION_TIMEOUT");
}

CASE("one thread begins what another ends, while a third waits in another exchange") {
  if (!threads_allowed()) return;
  const CartesianDomain domain({10, 9}, {.halo = 1, .periodic = true});
  Work handed(domain, "shared+mpi", 0), other(domain, "staged_shared+mpi", 1);
  for (int round = 0; round < repetitions; ++round) {
    handed.prepare(Direction::forward, round);
    other.prepare(Direction::reverse, round);
    handed.begin();
    std::thread third([&] { other.begin(), other.end(); });
    std::thread second([&] { handed.end(); });
    third.join();
    second.join();
    ASSERT_EQ(handed.difference(), "");
    ASSERT_EQ(other.difference(), "");
  }
}

CASE("a process with several blocks exchanges among its own and with its neighbors") {
  const Communicator comm(MPI_COMM_WORLD);
  const CartesianDomain domain({16, 12}, {.halo = 2, .periodic = true, .blocks_per_rank = {2, 2}});
  for (const char* transport : {"shared+mpi", "staged_shared+mpi", "mpi"}) {
    CAPTURE(transport);
    Work work(domain, transport, 0);
    for (int round = 0; round < repetitions; ++round)
      ASSERT_EQ(work.round_trip(round % 2 ? Direction::reverse : Direction::forward, round), "");
  }
}
