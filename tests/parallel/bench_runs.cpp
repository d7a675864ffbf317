// Runs of phl-bench. Split exchanges: verifies values, excludes work from the time, skips variants
// without begin/end. Applications: all variants reproduce the reference bit for bit, faults are
// detected, and the solvers converge.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "support/cases.hpp"

#include "apps/case.hpp"
#include "curve.hpp"
#include "finite_volume.hpp"
#include "halo/case.hpp"
#include "hydrodynamics.hpp"
#include "launch.hpp"
#include "measurement.hpp"
#include "multigrid_cg.hpp"
#include "over_ghosts.hpp"
#include "poisson.hpp"
#include "turns.hpp"
#include "variant.hpp"

using namespace parhelion;
using namespace parhelion::bench;
using namespace applications;

namespace {

const std::vector<std::string> measured{
    "auto", "mpi", "hand_packed", "hand_staged_datatype", "hand_neighbor_alltoallv"};

std::map<std::string, Outcome> run(const Case& which, const Communicator& comm) {
  Job job;
  job.repetitions = 2;
  StartLine start_line(comm);
  FlagProbe probe(comm, bind_ranks(comm, false));
  std::map<std::string, Outcome> outcomes;
  Turns alone("", comm.rank());
  run_case(which, job, {comm, start_line, probe, alone},
      [&](const Case&, const Outcome& outcome) { outcomes.emplace(outcome.variant, outcome); });
  return outcomes;
}

std::map<std::string, Outcome> outcomes_of(Case& which, const Communicator& comm) {
  std::erase_if(which.entries, [](const Entry& entry) {
    return entry.name != "floor" &&
           std::find(measured.begin(), measured.end(), entry.name) == measured.end();
  });
  return run(which, comm);
}

nlohmann::json tiny(int ranks) {
  return {{"grid", {ranks, 1}}, {"extent", {8, 8}}, {"work_us", 20}, {"uneven", 0.5}};
}

std::map<std::string, Outcome> outcomes_of(
    const nlohmann::json& object, const std::vector<std::string>& names) {
  const Communicator comm(MPI_COMM_WORLD);
  Case which = read_application(object, comm);
  which.entries = chosen(which.entries, names);
  return run(which, comm);
}

nlohmann::json small(const std::string& app) {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  if (app == "finite_volume" || app == "poisson") return {{"app", app}, {"extent", {8, 8}}};
  return {{"app", app}, {"grid", {1, ranks, 1}}, {"extent", {8, 4, 4}}};
}

double sum_over_ranks(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

}  // namespace

CASE(
    "exchanges are verified around work, and those that cannot be begun and ended apart are "
    "skipped") {
  const Communicator comm(MPI_COMM_WORLD);
  Case which = make_halo_case(read_halo_params(tiny(comm.size()), comm.size()), comm);
  EXPECT_EQ(which.params["work_us"], 20);
  EXPECT_EQ(which.params["uneven"], 0.5);
  auto outcomes = outcomes_of(which, comm);
  for (const std::string& name : measured) {
    CAPTURE(name);
    EXPECT_FALSE(outcomes[name].error);
    EXPECT_FALSE(outcomes[name].skipped);
    EXPECT_TRUE(outcomes[name].verified);
  }
  EXPECT_EQ(outcomes["floor"].skipped.value_or(""), "it cannot be begun and ended apart");
  if (comm.size() > 1)
    EXPECT_NE(
        outcomes["auto"].explain.get<std::string>().find("in begin and end"), std::string::npos);
}

CASE("phases are timed beside each sample, where an exchange has halves") {
  const Communicator comm(MPI_COMM_WORLD);
  const nlohmann::json object{{"extent", {8, 8}}, {"grid", {comm.size(), 1}}, {"phases", true}};
  Case which = make_halo_case(read_halo_params(object, comm.size()), comm);
  which.entries = chosen(which.entries, {"auto", "mpi", "hand_packed", "floor"});
  const auto outcomes = run(which, comm);
  for (const auto& [name, outcome] : outcomes) {
    CAPTURE(name);
    EXPECT_TRUE(outcome.verified);
    for (std::size_t phase = 0; phase < outcome.phases_s.size(); ++phase) {
      const bool by_hand = name == "hand_packed";
      const std::vector<double>& seconds = outcome.phases_s[phase];
      EXPECT_EQ(seconds.empty(), name == "floor");
      for (double each : seconds) EXPECT_EQ(each > 0, by_hand || phase == 1 || phase == 2);
    }
  }
}

CASE("the floor fills the ghosts that have an owner, on grids with open ends too") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const char* order : {"F", "C"})
    for (const bool periodic : {false, true}) {
      CAPTURE(order);
      CAPTURE(periodic);
      const nlohmann::json object{{"extent", {8, 4}}, {"grid", {comm.size(), 1}}, {"halo", 1},
          {"periodic", {periodic, false}}, {"order", order}};
      const HaloSetup setup = make_halo_setup(read_halo_params(object, comm.size()), comm);
      SetupTimes times;
      const VariantPointer floor = make_floor(setup, times);
      const bool lower = periodic || comm.rank() > 0;
      const bool upper = periodic || comm.rank() < comm.size() - 1;
      floor->values().refresh(1);
      EXPECT_EQ(floor->values().count_wrong(1), 4 * (lower + upper));
      floor->exchange();
      EXPECT_EQ(floor->values().count_wrong(1), 0);
    }
}

CASE("folds are verified, and only the library's transports know them") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const char* order : {"F", "C"})
    for (const auto& [seam, neighbors] :
        {std::pair{"fold", "full"}, {"fold", "faces"}, {"fold-center", "full"}}) {
      CAPTURE(order);
      CAPTURE(seam);
      CAPTURE(neighbors);
      const nlohmann::json object{{"extent", {6, 5, 4}}, {"halo", 2}, {"seam", seam},
          {"neighbors", neighbors}, {"order", order}};
      HaloSetup setup = make_halo_setup(read_halo_params(object, comm.size()), comm);
      const auto outcomes = [&] {
        return run(
            {"", {}, chosen(halo_variants(setup), {"auto", "mpi", "hand_packed", "floor"})}, comm);
      };
      auto folded = outcomes();
      EXPECT_EQ(halo_case_params(setup.params, comm.size())["seam"], seam);
      for (const char* name : {"auto", "mpi"}) EXPECT_TRUE(folded[name].verified);
      for (const char* name : {"hand_packed", "floor"})
        EXPECT_NE(folded[name].skipped.value_or("").find("seams"), std::string::npos);

      // The arrays keep the layout of a fold.
      setup.params.fold.reset();
      auto periodic = outcomes();
      for (const char* name : {"auto", "mpi", "hand_packed"})
        EXPECT_NE(periodic[name].error.value_or("").find("wrong"), std::string::npos);
    }
}

CASE(
    "folds of fewer than two dimensions, of open ends or of no more cells than two halos are "
    "refused") {
  for (const nlohmann::json& object : {nlohmann::json{{"grid", {1}}, {"extent", {8}}},
           {{"grid", {1, 1}}, {"extent", {8, 8}}, {"periodic", {true, false}}},
           {{"grid", {1, 1}}, {"extent", {8, 4}}, {"halo", 2}}}) {
    nlohmann::json folded = object;
    EXPECT_NO_THROW(read_halo_params(folded, 1));
    folded["seam"] = "fold";
    EXPECT_THROW(read_halo_params(folded, 1), Error);
  }
}

CASE("the first rank has less work than the average by a share of it, the last more") {
  const Work work{1, 0.5};
  EXPECT_NEAR(work.of_rank(0, 3), 0.5, 1.2e-5);
  EXPECT_NEAR(work.of_rank(1, 3), 1, 1.2e-5);
  EXPECT_NEAR(work.of_rank(2, 3), 1.5, 1.2e-5);
  EXPECT_NEAR((Work{1, 0}.of_rank(2, 3)), 1, 1.2e-5);
}

CASE(
    "how far apart the start line lets hosts go is known to all ranks alike, and nothing on one "
    "host") {
  const Communicator world(MPI_COMM_WORLD);
  EXPECT_EQ(StartLine(world).hosts_apart(), 0);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  setenv("PARHELION_NODE_RANKS", "1", 1);
  const double apart = StartLine(Communicator(copy)).hosts_apart();
  double most = apart;
  unsetenv("PARHELION_NODE_RANKS");
  MPI_Comm_free(&copy);
  EXPECT_EQ(apart > 0, world.size() > 1);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(apart, most);
}

CASE(
    "every way to exchange gives an application the bits of the reference, and its exchanges are "
    "timed") {
  for (const char* app : {"multigrid_cg", "finite_volume", "poisson", "hydrodynamics"})
    for (const auto& [name, outcome] : outcomes_of(small(app), {"all", "mpi"})) {
      if (name == "petsc" || name == "dolfinx") continue;  // optional plug-ins
      CAPTURE(app);
      CAPTURE(name);
      EXPECT_FALSE(outcome.error);
      EXPECT_TRUE(outcome.verified);
      EXPECT_EQ(outcome.exchange_s.size(), 2);
      EXPECT_GT(outcome.exchange_s.front(), 0);
      EXPECT_GT(outcome.exchange_lines, 10);
      if (Communicator(MPI_COMM_WORLD).size() > 1) EXPECT_GT(outcome.traffic.bytes, 0);
    }
}

CASE("one wrong bit of an application's state is noticed") {
  for (const char* app : {"multigrid_cg", "finite_volume", "poisson", "hydrodynamics"})
    for (const auto& [name, outcome] : outcomes_of(small(app), {"planted_fault"})) {
      CAPTURE(name);
      EXPECT_FALSE(outcome.verified);
      EXPECT_NE(outcome.error.value_or("").find("wrong"), std::string::npos);
    }
}

CASE("conjugate gradients with multigrid converge, on a grid of ranks in three dimensions") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  const int half = ranks % 2 == 0 ? 2 : 1;
  const std::array<int, 3> extent{16, 16, 16};
  EXPECT_EQ(levels_of(extent), 4);
  EXPECT_EQ(levels_of({8, 12, 6}), 2);
  EXPECT_EQ(levels_of({7, 8, 8}), 1);
  const GhostUpdatePointer way = reference_update();
  const auto solver = multigrid_cg({{half, 1, ranks / half}, extent, 4}, MPI_COMM_WORLD)(*way);
  solver->start(1);
  const auto residual = [&] { return std::sqrt(solver->state()[3][0]); };
  solver->step();
  const double after_one = residual();
  for (int step = 0; step < 20; ++step) solver->step();
  EXPECT_LT(residual(), 1e-6 * after_one);
}

CASE(
    "finite volumes keep mass, momentum and energy, whatever the number of ranks, and nothing "
    "stands still") {
  const int side = 16;
  const GhostUpdatePointer way = reference_update();
  const auto solver = finite_volume(side, MPI_COMM_WORLD)(*way);
  const auto totals = [&] {
    std::array<double, 4> sums{};
    const std::span<const double> u = solver->state()[1];
    const int ranks = Communicator(MPI_COMM_WORLD).size(),
              rank = Communicator(MPI_COMM_WORLD).rank();
    const int owned = 2 * (side * side * (rank + 1) / ranks) - 2 * (side * side * rank / ranks);
    for (int cell = 0; cell < owned; ++cell)
      for (int v = 0; v < 4; ++v)
        sums[static_cast<std::size_t>(v)] += u[static_cast<std::size_t>(cell * 4 + v)];
    for (double& sum : sums) sum = sum_over_ranks(sum);
    return sums;
  };
  solver->start(1);
  const std::array<double, 4> before = totals();
  const double first = solver->state()[1][0];
  for (int step = 0; step < 20; ++step) solver->step();
  const std::array<double, 4> after = totals();
  for (std::size_t v = 0; v < 4; ++v) EXPECT_NEAR(after[v], before[v], 1e-12 * 2 * side * side);
  EXPECT_NE(solver->state()[1][0], first);
  EXPECT_TRUE(std::isfinite(solver->state()[1][0]));
}

// The whole matrix, dense, on every rank.
std::vector<double> laplacian(int side) {
  const Rows rows = assemble_laplacian(side, MPI_COMM_WORLD);
  const auto nodes = static_cast<std::size_t>(side * side);
  std::vector<double> all(nodes * nodes);
  for (int row = 0; row < rows.cells.owned; ++row)
    for (int k = rows.first[static_cast<std::size_t>(row)];
        k < rows.first[static_cast<std::size_t>(row) + 1]; ++k) {
      const int column = rows.columns[static_cast<std::size_t>(k)],
                ghost = column - rows.cells.owned;
      const std::int64_t id = ghost < 0 ? rows.cells.first + column
                                        : rows.cells.ghosts[static_cast<std::size_t>(ghost)];
      all[static_cast<std::size_t>(rows.cells.first + row) * nodes + static_cast<std::size_t>(id)] =
          rows.values[static_cast<std::size_t>(k)];
    }
  MPI_Allreduce(
      MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

CASE(
    "the finite elements' matrix is symmetric, and takes a constant to zero away from the border "
    "alone") {
  constexpr std::size_t side = 8, nodes = side * side;
  const std::vector<double> matrix = laplacian(side);
  for (std::size_t row = 0; row < nodes; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < nodes; ++column) {
      sum += matrix[row * nodes + column];
      EXPECT_NEAR(matrix[row * nodes + column], matrix[column * nodes + row], 1e-14);
    }
    const auto [x, y] = at_place(static_cast<std::int64_t>(row));
    const bool inside =
        x > 0 && y > 0 && x + 1 < static_cast<int>(side) && y + 1 < static_cast<int>(side);
    if (inside) EXPECT_NEAR(sum, 0, 1e-13);
    else EXPECT_GT(sum, 0.1);
  }
}

CASE("conjugate gradients solve the finite elements' system") {
  const GhostUpdatePointer way = reference_update();
  const auto solver = poisson(8, MPI_COMM_WORLD)(*way);
  solver->start(1);
  solver->step();
  const double first = solver->state()[3][0];
  for (int step = 0; step < 40; ++step) solver->step();
  EXPECT_LT(solver->state()[3][0], 1e-12 * first);
  EXPECT_NE(solver->state()[1][0], 0);
}

CASE("the gas of a closed box fills it, whatever the number of ranks, and nothing stands still") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  ExchangeClock clock;
  const auto solver =
      hydrodynamics({{1, ranks, 1}, {6, 4, 4}}, MPI_COMM_WORLD, sums_over_all_ranks)(clock);
  const auto volume = [&] {
    double sum = 0;
    for (const double each : solver->state()[1]) sum += each;
    return sum_over_ranks(sum);
  };
  solver->start(1);
  const double first = solver->state()[0][0];
  for (int step = 0; step < 40; ++step) solver->step();
  EXPECT_NEAR(volume(), 96 * ranks, 1e-12 * 96 * ranks);
  EXPECT_NE(solver->state()[0][0], first);
  EXPECT_TRUE(std::isfinite(solver->state()[0][0]));
  EXPECT_NE(solver->state()[1][0], 1);
}

CASE("applications that cannot be run are refused") {
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  for (const nlohmann::json& object :
      {nlohmann::json{{"app", "pigeon"}}, {{"app", "finite_volume"}, {"extent", {12, 12}}},
          {{"app", "finite_volume"}, {"extent", {8, 16}}},
          {{"app", "poisson"}, {"extent", {12, 12}}},
          {{"app", "multigrid_cg"}, {"grid", {ranks + 1, 1, 1}}, {"extent", {8, 8, 8}}},
          {{"app", "multigrid_cg"}, {"grid", {ranks, 1, 1}}, {"extent", {0, 8, 8}}},
          {{"app", "hydrodynamics"}, {"grid", {ranks, 1, 2}}, {"extent", {8, 8, 8}}},
          {{"app", "shallow_water"}, {"grid", {1, ranks}}, {"extent", {8, 2 * ranks - 1}}}})
    EXPECT_THROW(static_cast<void>(read_application(object, MPI_COMM_WORLD)), Error);
}
