// Two of three ranks do all work on their own communicator while the third waits in a barrier of
// MPI_COMM_WORLD: any use of MPI_COMM_WORLD hangs, or is counted.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "parhelion/index_map/derive.hpp"
#include "parhelion/parhelion.hpp"
#include "parhelion/phl.h"
#include "parhelion/placement/placed_comm.hpp"
#include "transport_list.hpp"
#include "watch.hpp"

using namespace parhelion;

namespace {

int failures = 0;

template <class Work>
void untouched(const std::string& what, Work&& work) {
  const int before = watched_world_calls();
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  work();
  const int calls = watched_world_calls() - before;
  if (calls == 0) return;
  std::printf("FAILED: %s made %d calls on MPI_COMM_WORLD, the last one %s\n", what.c_str(), calls,
      watched_world_call());
  ++failures;
}

void all_directions(Exchange& exchange) {
  exchange();
  exchange.reverse(Reduction::sum);
  auto step = exchange.begin();
  step.end();
}

void exchanges(MPI_Comm comm) {
  for (const Algorithm algorithm : {Algorithm::standard, Algorithm::by_dimension}) {
    const CartesianDomain domain(
        {12, 10}, {.halo = 1, .periodic = true, .algorithm = algorithm}, comm);
    const auto array = make_array<double>(domain);
    for (const std::string& way : test::every_way())
      untouched("exchange over " + way, [&] {
        Exchange exchange(build_pattern(domain), {view(array)}, {way});
        all_directions(exchange);
      });
  }
  const CartesianDomain domain({12, 10}, {.halo = 1, .periodic = true}, comm);
  const auto array = make_array<double>(domain);
  untouched("exchange with a thread", [&] {
    Exchange exchange(build_pattern(domain), {view(array)},
        {.transport = "auto", .threads = 2, .progress_thread = true});
    all_directions(exchange);
  });
  untouched("pattern", [&] {
    const Pattern pattern = build_pattern(domain);
    Exchange exchange(pattern, {view(array)});
    all_directions(exchange);
  });
}

void maps(MPI_Comm comm, int rank) {
  untouched("index map", [&] {
    IndexMap map(IndexedDomain(10, {rank == 0 ? 12 : 3}, comm));
    std::vector<double> cells(11, 1.5);
    auto* const first = reinterpret_cast<std::byte*>(cells.data());
    const CellValues values{{first, 8}, {first + 80, 8}, {Scalar::float64, 8}, 1};
    map.forward(values);
    map.reverse(values, Reduction::sum);
    std::vector<double> all(20);
    collate(map.domain(), 0, {reinterpret_cast<std::byte*>(all.data()), 8}, 20, {first, 8}, 8);
    distribute(map.domain(), 0, {reinterpret_cast<std::byte*>(all.data()), 8}, 20, {first, 8}, 8);
  });
  untouched("ragged rows", [&] {
    const IndexMap rows = IndexMap::pull(10, {rank == 0 ? 12 : 3}, comm);
    const std::vector<global_index> counts(10, 3);
    const IndexMap entries(ragged_domain(rows, counts));
    std::vector<double> values(static_cast<std::size_t>(entries.size()));
    entries.forward({values});
  });
  untouched("placement", [&] {
    const placement::PlacedComm placed(comm, {.cells = {64, 64}});
    const CartesianDomain domain({64, 64}, {.process_grid = placed.grid()}, placed.comm());
  });
}

void require(int status, const char* call) {
  if (status == 0) return;
  std::printf("FAILED: %s: %s\n", call, phl_last_error());
  ++failures;
}

void c_interface(MPI_Comm comm, int rank) {
  untouched("gather in C", [&] {
    const std::int64_t ghost = rank == 0 ? 12 : 3;
    phl_index_map map = nullptr;
    require(phl_index_map_create(comm, 10, 1, &ghost, nullptr, &map), "phl_index_map_create");
    double cells[11] = {};
    const phl_element element{PHL_FLOAT64, 1, 0};
    const phl_values values{element, {cells, 11, 0}, {}, 0, {}, {}};
    require(phl_map_forward(map, &values, 1), "phl_map_forward");
    require(phl_map_reverse(map, PHL_SUM, &values, 1), "phl_map_reverse");
    require(phl_index_map_free(&map), "phl_index_map_free");
  });
  untouched("grid in C", [&] {
    const std::int64_t extents[2] = {12, 10};
    phl_cartesian_options options{};
    for (int d = 0; d < 2; ++d)
      options.halo_lower[d] = options.halo_upper[d] = options.periodic[d] = 1;
    phl_cartesian domain = nullptr;
    require(phl_cartesian_create(comm, 2, extents, &options, &domain), "phl_cartesian_create");
    std::int64_t lower[2], upper[2];
    require(phl_cartesian_extended(domain, 0, lower, upper), "phl_cartesian_extended");
    void* memory = nullptr;
    require(
        phl_allocate((upper[0] - lower[0]) * (upper[1] - lower[1]) * 8, &memory), "phl_allocate");
    phl_field field{};
    field.element = {PHL_FLOAT64, 1, 0};
    field.cells = memory;
    phl_exchange exchange = nullptr;
    require(phl_exchange_create_cartesian(domain, 1, &field, nullptr, &exchange),
        "phl_exchange_create_cartesian");
    require(phl_exchange_forward(exchange, NULL, 0), "phl_exchange_forward");
    require(phl_exchange_reverse(exchange, PHL_SUM, NULL, 0), "phl_exchange_reverse");
    require(phl_exchange_free(&exchange), "phl_exchange_free");
    require(phl_cartesian_free(&domain), "phl_cartesian_free");
    require(phl_release(memory), "phl_release");
  });
}

// Checks that the watch counts: on a one-rank communicator the library queries the size of
// MPI_COMM_WORLD, a local call.
void see_a_call(MPI_Comm comm) {
  const int before = watched_world_calls();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const CartesianDomain domain({8, 8}, {}, comm);
  if (watched_world_calls() == before + 1) return;
  std::printf("FAILED: the library's calls are not watched\n");
  ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (MPI_Comm comm = MPI_Comm_f2c(watched_split()); comm != MPI_COMM_NULL) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    try {
      see_a_call(comm);
      exchanges(comm);
      maps(comm, rank);
      c_interface(comm, rank);
    } catch (const std::exception& error) {
      std::printf("FAILED: %s\n", error.what());
      std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Comm_free(&comm);
    watched_meet();
  }
  MPI_Finalize();
  return failures != 0;
}
