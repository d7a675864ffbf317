// Objects that outlive MPI_Finalize: using one throws, and none calls MPI.
//
// Usage: after_mpi idle | under_way | given_up [BYTES PER ROW]
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/index_map/index_map.hpp"
#include "parhelion/parhelion.hpp"
#include "parhelion/phl.h"
#include "parhelion/placement/placed_comm.hpp"
#include "transport_list.hpp"

using namespace parhelion;

namespace {

int failures = 0;

template <class Work>
void refused(const std::string& what, const char* why, Work&& work) {
  std::string said = "nothing";
  try {
    work();
  } catch (const Error& error) {
    said = error.what();
  }
  if (said.find(why) != std::string::npos) return;
  std::fprintf(stderr, "FAILED: %s said %s\n", what.c_str(), said.c_str());
  ++failures;
}

void refused_by_c(const char* what, const char* why, int status) {
  refused(what, why, [&] {
    if (status != 0) throw Error(phl_last_error());
  });
}

struct Halo {
  Halo(const CartesianDomain& domain, const std::string& way, ExchangeOptions options = {})
      : name(way), array(make_array<double>(domain)),
        exchange((options.transport = way, build_pattern(domain)), {view(array)}, options) {}
  std::string name;
  Array<double> array;
  Exchange exchange;
  std::optional<Exchange::Step> step;
};

// Destroyed after main, as is `held`.
std::vector<std::unique_ptr<Halo>> global;

struct Held {
  std::optional<CartesianDomain> domain;
  std::optional<Pattern> pattern;
  std::optional<IndexMap> map;
  std::optional<placement::PlacedComm> placed;
  std::vector<double> cells = std::vector<double>(11);
  phl_index_map c_map = nullptr;
  phl_cartesian c_domain = nullptr;
  CellValues values() {
    auto* const first = reinterpret_cast<std::byte*>(cells.data());
    return {{first, 8}, {first + 80, 8}, {Scalar::float64, 8}, 1};
  }
};

Held& held() {
  static Held all;
  return all;
}

constexpr const char* ended = "MPI has ended";

void make_all(int rank) {
  Held& all = held();
  all.pattern = build_pattern(*all.domain);
  const std::vector<global_index> ghosts{rank == 0 ? 12 : 3};
  all.map.emplace(IndexedDomain(10, ghosts, MPI_COMM_WORLD));
  all.map->forward(all.values());
  all.placed.emplace(MPI_COMM_WORLD, placement::PlacedOptions{.cells = {64, 64}});
  phl_index_map_create(MPI_COMM_WORLD, 10, 1, ghosts.data(), nullptr, &all.c_map);
  const std::int64_t extents[2] = {12, 10};
  phl_cartesian_create(MPI_COMM_WORLD, 2, extents, nullptr, &all.c_domain);
}

void use_all_after_the_end() {
  Held& all = held();
  for (const auto& halo : global) {
    if (halo->step) refused(halo->name + " end", ended, [&] { halo->exchange.end(); });
    else refused(halo->name + " end", "no exchange is under way", [&] { halo->exchange.end(); });
    refused(halo->name + " begin", ended, [&] { halo->exchange(); });
    refused(halo->name + " reverse", ended, [&] { halo->exchange.reverse(Reduction::sum); });
  }
  refused("exchange made", ended, [&] { Halo(*all.domain, "auto"); });
  refused("pattern built", ended, [&] { build_pattern(all.map->domain()); });
  refused("domain made", ended, [&] { CartesianDomain({8, 8}, {}, MPI_COMM_WORLD); });
  refused("domain made by default", ended, [&] { CartesianDomain({8, 8}); });
  refused("map used", ended, [&] { all.map->forward(all.values()); });
  refused("map used in reverse", ended, [&] { all.map->reverse(all.values(), Reduction::sum); });
  refused("map pulled", ended, [&] { IndexMap::pull(10, {}); });
  refused("placement made", ended, [&] { placement::PlacedComm(MPI_COMM_WORLD, {.cells = {64}}); });
  refused("machine discovered", ended, [&] { placement::discover(MPI_COMM_WORLD); });
  refused("MPI_Cart made", ended, [&] { all.placed->to_cart(); });
  const phl_element element{PHL_FLOAT64, 1, 0};
  phl_cartesian domain = nullptr;
  const std::int64_t extents[2] = {12, 10};
  const phl_values cells{element, {all.cells.data(), 11, 0}, {}, 0, {}, {}};
  refused_by_c("phl_map_forward", ended, phl_map_forward(all.c_map, &cells, 1));
  refused_by_c("phl_cartesian_create", ended,
      phl_cartesian_create(MPI_COMM_WORLD, 2, extents, nullptr, &domain));
  refused_by_c("phl_cartesian_free", ended, phl_cartesian_free(&all.c_domain));
  refused_by_c("phl_start", ended, phl_start(nullptr));
}

void use_before_the_beginning() {
  constexpr const char* why = "MPI is not running";
  phl_cartesian domain = nullptr;
  const std::int64_t extents[2] = {12, 10};
  refused("domain made", why, [&] { CartesianDomain({8, 8}); });
  refused("machine discovered", why, [&] { placement::discover(MPI_COMM_WORLD); });
  refused_by_c("phl_cartesian_create", why,
      phl_cartesian_create(MPI_COMM_WORLD, 2, extents, nullptr, &domain));
  if (phl_stop() != 0) ++failures;
}

// The last rank does not participate: the others reach the time limit.
void give_up(Halo& halo, bool takes_part) {
  if (!takes_part) return;
  refused(halo.name + " waited", "no answer within", [&] { halo.exchange(); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "idle";
  const global_index width = argc > 2 ? std::atoll(argv[2]) : 10;
  use_before_the_beginning();
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  held().domain.emplace(std::vector<global_index>{6 * size, width},
      CartesianOptions{.halo = 1, .periodic = true, .process_grid = {size, 1}}, MPI_COMM_WORLD);
  make_all(rank);
  for (const std::string& way : test::every_way()) {
    global.push_back(std::make_unique<Halo>(
        *held().domain, way, ExchangeOptions{.timeout_s = how == "given_up" ? 0.2 : 0.0}));
    Halo& halo = *global.back();
    halo.exchange();
    if (how == "under_way") halo.step.emplace(halo.exchange.begin());
    if (how == "given_up") give_up(halo, rank != size - 1);
  }
  MPI_Finalize();
  if (how != "given_up") use_all_after_the_end();
  if (rank == 0) std::printf("%s: %s\n", how.c_str(), failures ? "FAILED" : "passed");
  std::fflush(stdout);
  return failures != 0;
}
