// lost_rank DIRECTORY TRANSPORT PLACE VICTIM [SECONDS]: kills one rank in a row of ranks; the
// others write their errors.
//
// PLACE is `between` (VICTIM dies before an exchange that the others wait in), `first` (before its
// first one), `amid` (after begin), `exit` (after begin, by exiting), `early` (after begin, before
// any other rank begins), `stopped` (as `between`, but stopped until the others have written), or
// n: at the n-th agreement while constructing a second exchange. Rank r writes seconds since the
// death, kind of error and message to DIRECTORY/r.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "parhelion/parhelion.hpp"

using namespace parhelion;

namespace {

using Clock = std::chrono::steady_clock;

struct Orders {
  std::filesystem::path directory;
  std::string transport, place;
  int victim;
  double timeout_s = 0;
  std::filesystem::path file(const std::string& name) const { return directory / name; }
};

int agreements_left = 0;  // before this rank dies
const Orders* fatal_orders = nullptr;

// The monotonic clock is common to all processes of a machine.
double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

void write(const std::filesystem::path& file, const std::string& text) {
  const auto hidden = file.string() + ".part";
  std::ofstream(hidden) << text;
  std::filesystem::rename(hidden, file);
}

// A launcher may end all ranks once one has ended: wait until all have written.
void wait_for_others(const Orders& orders, int ranks) {
  for (int tenths = 0; tenths < 200; ++tenths) {
    int there = 0;
    for (int r = 0; r < ranks; ++r)
      there += std::filesystem::exists(orders.file(std::to_string(r)));
    if (there == ranks - 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Stops this rank; a child process kills it once the others have written.
void stop(const Orders& orders) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const pid_t stopped = getpid();
  if (fork() == 0) {
    wait_for_others(orders, ranks);
    kill(stopped, SIGKILL);
    _exit(0);
  }
  raise(SIGSTOP);
}

[[noreturn]] void die(const Orders& orders) {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // lets the others fall asleep
  write(orders.file("death"), std::to_string(now()));
  if (orders.place == "exit") std::exit(1);
  if (orders.place == "stopped") stop(orders);
  kill(getpid(), SIGKILL);
  std::abort();
}

void exchange_until_death(const Orders& orders, const Communicator& comm) {
  // A row of ranks: most ranks are not neighbors of the victim.
  const CartesianDomain domain(
      {8 * comm.size(), 8}, {.halo = 1, .process_grid = {comm.size(), 1}}, comm);
  auto u = make_array<double>(domain);
  std::optional<Exchange> first(
      std::in_place, build_pattern(domain), std::vector<Field>{view(u)}, ExchangeOptions{"mpi"});
  if (comm.rank() == orders.victim) agreements_left = std::atoi(orders.place.c_str());
  Exchange exchange(build_pattern(domain), {view(u)}, {orders.transport, orders.timeout_s});
  first.reset();
  const bool early = orders.place == "early",
             amid = early || orders.place == "amid" || orders.place == "exit";
  const int fatal =
      !early && (amid || orders.place == "between" || orders.place == "stopped") ? 50 : 0;
  for (int i = 0; i < 100; ++i) {
    const bool last = i == fatal && comm.rank() == orders.victim;
    if (last && !amid) die(orders);
    if (early && i == fatal && !last) std::this_thread::sleep_for(std::chrono::seconds(1));
    auto step = exchange.begin();
    if (last) die(orders);
    step.end();
  }
}

double death_time(const Orders& orders) {
  double time = now();
  std::ifstream(orders.file("death")) >> time;
  return time;
}

}  // namespace

// Intercepts the library's agreements.
extern "C" int MPI_Iallreduce(const void* mine, void* all, int count, MPI_Datatype type,
    MPI_Op operation, MPI_Comm comm, MPI_Request* request) {
  if (agreements_left > 0 && --agreements_left == 0) die(*fatal_orders);
  return PMPI_Iallreduce(mine, all, count, type, operation, comm, request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  signal(SIGUSR1, SIG_IGN);  // Hydra's notification of a lost process
  if (argc != 5 && argc != 6) return 2;
  static const Orders orders{
      argv[1], argv[2], argv[3], std::atoi(argv[4]), argc == 6 ? std::atof(argv[5]) : 0};
  fatal_orders = &orders;
  const Communicator comm(MPI_COMM_WORLD);
  std::string told = "0 nothing";
  try {
    exchange_until_death(orders, comm);
  } catch (const Error& error) {
    told = std::to_string(now() - death_time(orders)) + "\n" +
           std::to_string(static_cast<int>(error.kind())) + "\n" + error.what();
  }
  write(orders.file(std::to_string(comm.rank())), told);
  wait_for_others(orders, comm.size());
  _exit(0);
}
