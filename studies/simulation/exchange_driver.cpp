// The program of simulated ranks: the library's exchange; rank 0 prints a line of JSON. The host
// file places the ranks.
//
//     phl-simulate GRID EXTENT ITERATIONS CHECK TRANSPORT HALO FIELDS
//     phl-simulate 12x12x12 64x64x64 2 0 mpi 1 8
#include <mpi.h>

#include <atomic>
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

extern std::atomic<long> live_bytes;  // of all ranks, in memory.cpp
extern double between_polls_s;        // in one_process.cpp

namespace {

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, 'x');) found.push_back(std::atoi(item.c_str()));
  return found;
}

struct Setup {
  std::string grid, extent;
  int iterations;
  bool check;
  std::string transport;
  int halo, fields;
  MPI_Comm comm;
};

CartesianDomain block_of_grid(const Setup& setup) {
  const std::vector<int> grid = numbers(setup.grid), extent = numbers(setup.extent);
  std::vector<global_index> global;
  for (std::size_t d = 0; d < grid.size(); ++d) global.push_back(global_index{grid[d]} * extent[d]);
  return CartesianDomain(
      global, {.halo = setup.halo, .periodic = true, .process_grid = grid}, setup.comm);
}

// Calls visit(owned, global id) for each cell in memory order.
template <class Visit>
void for_each_cell(const CartesianDomain& domain, Visit visit) {
  const Box &box = domain.extended(), &owned = domain.owned();
  Coordinates at{};
  for (at[0] = box.lo[0]; at[0] < box.hi[0]; ++at[0])
    for (at[1] = box.lo[1]; at[1] < box.hi[1]; ++at[1])
      for (at[2] = box.lo[2]; at[2] < box.hi[2]; ++at[2]) {
        bool inside = true;
        global_index id = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const auto n = domain.axis(static_cast<int>(d)).extent;
          inside = inside && at[d] >= owned.lo[d] && at[d] < owned.hi[d];
          id = id * n + (at[d] % n + n) % n;
        }
        visit(inside, id);
      }
}

float expected(global_index id, std::size_t field) {
  return static_cast<float>(id % 100003) + static_cast<float>(field);
}

// Fields of floats, in memory that ranks may share (memory.cpp).
class Fields {
 public:
  Fields(const CartesianDomain& domain, int count) : domain_(domain) {
    for (int f = 0; f < count; ++f) {
      memory_.push_back(allocate_aligned(static_cast<byte_count>(domain.extended().cells()) *
                                         static_cast<byte_count>(sizeof(float))));
      views_.push_back(view(domain, values(memory_.back())));
    }
  }
  const std::vector<Field>& views() const { return views_; }

  void fill() {
    for (std::size_t f = 0; f < memory_.size(); ++f)
      for_each_cell(domain_, [value = values(memory_[f]), f](bool owned, auto id) mutable {
        *value++ = owned ? expected(id, f) : -1.0f;
      });
  }
  long wrong() const {
    long count = 0;
    for (std::size_t f = 0; f < memory_.size(); ++f)
      for_each_cell(domain_, [value = values(memory_[f]), f, &count](
                                 bool, auto id) mutable { count += *value++ != expected(id, f); });
    return count;
  }

 private:
  static float* values(const AlignedBytes& bytes) { return reinterpret_cast<float*>(bytes.get()); }

  const CartesianDomain& domain_;
  std::vector<AlignedBytes> memory_;
  std::vector<Field> views_;
};

// Live bytes of all ranks, read between barriers.
long bytes_of_all() {
  MPI_Barrier(MPI_COMM_WORLD);
  const long bytes = live_bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  return bytes;
}

double latest(double time) {
  double all = 0;
  MPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

// Mean seconds from the last rank's start to the last rank's end, without barriers between
// exchanges, as in a solver. Waiting ranks poll every PARHELION_SIMULATED_POLL seconds.
double seconds_per_exchange(Exchange& exchange, int iterations, MPI_Comm comm) {
  if (const char* text = std::getenv("PARHELION_SIMULATED_POLL")) between_polls_s = std::atof(text);
  exchange();  // the first opens connections and absorbs skew
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) exchange();
  const double end = MPI_Wtime();
  return (latest(end) - latest(start)) / iterations;
}

void run(const Setup& setup) {
  const CartesianDomain domain = block_of_grid(setup);
  Fields fields(domain, setup.fields);
  if (setup.check) fields.fill();
  const long before = bytes_of_all();
  Exchange exchange(build_pattern(domain), fields.views(), {.transport = setup.transport});
  const long set_up = bytes_of_all() - before;
  const double seconds = seconds_per_exchange(exchange, setup.iterations, setup.comm);
  long wrong = setup.check ? fields.wrong() : 0, wrong_anywhere = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    std::printf("{\"seconds\": %.9e, \"setup_bytes\": %ld, \"wrong\": %ld}\n", seconds,
        set_up / ranks, wrong_anywhere);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    if (argc != 8) throw Error("seven arguments are needed: see exchange_driver.cpp");
    // In SMPI all ranks share one MPI_COMM_WORLD object and its attributes, but no duplicate.
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const Setup setup{argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]) != 0, argv[5],
        std::atoi(argv[6]), std::atoi(argv[7]), comm};
    run(setup);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "phl-simulate: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
