#include "apps/case.hpp"

#include <algorithm>

#include "apps/plug_ins.hpp"
#include "exchange_lines.hpp"
#include "exchanges/nodes.hpp"
#include "finite_volume.hpp"
#include "hydrodynamics.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "multigrid_cg.hpp"
#include "options.hpp"
#include "over_ghosts.hpp"
#include "poisson.hpp"
#include "values.hpp"
#include "variant.hpp"

namespace parhelion::bench {

using namespace applications;
using applications::Program;

namespace {

/// An application over one exchange, timed step by step. The checks compare its state bit for bit
/// with the reference; round r takes r steps first, so that they see later steps too.
class Running final : public Variant, private Values {
 public:
  /// Collective. Counts the exchange's set-up only: the application's is the same in all
  /// variants.
  Running(
      const MakeProgram& make, std::shared_ptr<Application> reference, int lines, SetupTimes& times)
      : program_(make(clock_)), reference_(std::move(reference)), lines_(lines) {
    times.plan += clock_.setup_s;
  }

  void exchange() override {
    program_->step();
    ++steps_;
    ++all_steps_;
  }
  Values& values() override { return *this; }
  Traffic traffic() const override {
    const applications::Traffic all = program_->traffic();
    const std::int64_t steps = std::max<std::int64_t>(all_steps_, 1);
    return {all.bytes / steps, all.messages / steps, {}, all.known};
  }
  nlohmann::json explain() const override {
    const std::string told = program_->explain();
    return told.empty() ? nlohmann::json(nullptr) : nlohmann::json(told);
  }
  std::optional<double> step_held(const std::function<void()>& hold) override {
    clock_.held_s = 0;
    clock_.hold = &hold;
    exchange();
    clock_.hold = nullptr;
    return clock_.held_s;
  }
  int exchange_lines() const override { return lines_; }

  Program& program() const { return *program_; }

 private:
  void refresh(unsigned round) override {
    program_->start(round);
    for (steps_ = 0; steps_ < round;) exchange();
  }
  /// Collective, unlike in other variants: the reference takes the same steps.
  std::int64_t count_wrong(unsigned round) const override {
    reference_->start(round);
    for (std::int64_t step = 0; step < steps_; ++step) reference_->step();
    const auto mine = program_->state(), right = reference_->state();
    std::int64_t wrong = 0;
    for (std::size_t part = 0; part < mine.size(); ++part)
      for (std::size_t i = 0; i < mine[part].size(); ++i)
        wrong += !same_bits(mine[part][i], right[part][i]);
    return wrong;
  }

  ExchangeClock clock_;
  std::unique_ptr<Program> program_;
  std::shared_ptr<Application> reference_;
  int lines_;
  std::int64_t steps_ = 0, all_steps_ = 0;  // of this round, of all rounds
};

class Reference {
 public:
  explicit Reference(MakeProgram make) : make_(std::move(make)) {}
  std::shared_ptr<Application> get() const {
    return made_->get([&] {
      auto clock = std::make_shared<ExchangeClock>();
      std::shared_ptr<Program> program = make_(*clock);
      Program* application = program.get();
      return std::shared_ptr<Application>(
          application, [clock, program](Application*) mutable { program.reset(); });
    });
  }

 private:
  MakeProgram make_;
  std::shared_ptr<MadeOnce<Application>> made_ = std::make_shared<MadeOnce<Application>>();
};

struct ByHand {
  const char* name;
  MakeProgram make;
  int lines;
};

std::vector<Entry> entries(MPI_Comm comm, const Reference& reference,
    const std::function<MakeProgram(const std::string&)>& with_library, int lines,
    const std::vector<ByHand>& by_hand) {
  std::vector<Entry> all = library_entries([=](const LibraryVariant& which, SetupTimes& times) {
    require_usable(which, comm);
    return std::make_unique<Running>(with_library(which.transport), reference.get(), lines, times);
  });
  for (Entry& entry : all) entry.only_by_name = entry.name != "auto";
  for (const ByHand& each : by_hand)
    all.push_back({each.name, "baseline", [=](SetupTimes& times) {
                     return std::make_unique<Running>(
                         each.make, reference.get(), each.lines, times);
                   }});
  all.push_back(planted_fault(comm, all.back().make, [](Variant& correct) {
    return reinterpret_cast<std::byte*>(dynamic_cast<Running&>(correct).program().some_value());
  }));
  return all;
}

std::vector<Entry> over_ghost_updates(const MakeApplication& make, MPI_Comm comm) {
  const auto own = [=](const std::string& transport) {
    return over_ghosts(make, [=] { return with_parhelion(transport); });
  };
  return entries(comm, Reference(over_ghosts(make, reference_update)), own, lines_of_parhelion,
      {{"hand_isend", over_ghosts(make, by_hand_with_isend),
           lines_of_hand_lists + lines_of_hand_isend},
          {"hand_persistent", over_ghosts(make, by_hand_with_persistent_requests),
              lines_of_hand_lists + lines_of_hand_persistent},
          {"hand_neighbor_alltoallv", over_ghosts(make, by_hand_with_neighbor_alltoallv),
              lines_of_hand_lists + lines_of_hand_neighbor_alltoallv}});
}

std::vector<Entry> poisson_variants(const MakeApplication& make, MPI_Comm comm) {
  std::vector<Entry> all = over_ghost_updates(make, comm);
  const Reference reference(over_ghosts(make, reference_update));
  const auto add = [&](const std::string& library, int lines) {
    const MakeProgram program = over_ghosts(make, [=] { return with_vectors_of(library); });
    all.push_back({library, "library", [=](SetupTimes& times) {
                     return std::make_unique<Running>(program, reference.get(), lines, times);
                   }});
  };
  add("petsc", lines_of_petsc_vector);
  add("dolfinx", lines_of_dolfinx_vector);
  return all;
}

std::vector<Entry> hydrodynamics_variants(const HydrodynamicsProblem& problem, MPI_Comm comm) {
  const auto over = [=](std::function<NodeSumsPointer()> way) {
    return hydrodynamics(problem, comm, std::move(way));
  };
  const auto own = [=](const std::string& transport) {
    return over([=] { return nodes_with_parhelion(transport); });
  };
  return entries(comm, Reference(over(sums_over_all_ranks)), own, lines_of_nodes_parhelion,
      {{"hand_isend", over(nodes_by_hand_with_isend), lines_of_hand_nodes + lines_of_nodes_isend},
          {"hand_sendrecv", over(nodes_by_hand_with_sendrecv),
              lines_of_hand_nodes + lines_of_nodes_sendrecv}});
}

std::vector<Entry> shallow_water_variants(const ShallowWaterProblem& problem, MPI_Comm comm) {
  using enum ShallowWaterWay;
  const auto own = [=](const std::string& transport) {
    return shallow_water(problem, comm, ShallowWaterWay::parhelion, transport);
  };
  return entries(comm, Reference(shallow_water(problem, comm, alone)), own,
      lines_of_c_grid_parhelion,
      {{"hand_isend", shallow_water(problem, comm, isend),
           lines_of_c_grid_boxes + lines_of_c_grid_isend},
          {"hand_sendrecv", shallow_water(problem, comm, sendrecv),
              lines_of_c_grid_boxes + lines_of_c_grid_sendrecv}});
}

}  // namespace

std::vector<Entry> application_variants() {
  std::vector<Entry> all = poisson_variants({}, MPI_COMM_NULL);
  for (Entry& entry : hydrodynamics_variants({}, MPI_COMM_NULL))
    if (std::ranges::find(all, entry.name, &Entry::name) == all.end())
      all.push_back(std::move(entry));
  return all;
}

namespace {

using nlohmann::json;

template <std::size_t n>
std::array<int, n> sides_of(const json& object, const std::string& key,
    const std::vector<std::int64_t>& usual, int least, int most) {
  auto given = object.value(key, usual);
  if (given.size() == 1) given.assign(n, given[0]);
  std::array<int, n> sides{};
  if (given.size() != n)
    throw Error("--" + key + " of an application must be " + std::to_string(n) + " numbers");
  for (std::size_t d = 0; d < n; ++d) {
    if (given[d] < least || given[d] > most)
      throw Error("--" + key + " has " + std::to_string(given[d]) + ": from " +
                  std::to_string(least) + " to " + std::to_string(most));
    sides[d] = static_cast<int>(given[d]);
  }
  return sides;
}

template <std::size_t n>
std::array<int, n> grid_of(const json& object, int ranks) {
  std::array<int, n> balanced{};
  MPI_Dims_create(ranks, static_cast<int>(n), balanced.data());
  if (n == 2) std::swap(balanced[0], balanced[1]);  // keeps the contiguous rows long
  const auto grid = sides_of<n>(object, "grid", {balanced.begin(), balanced.end()}, 1, ranks);
  std::int64_t started = 1;
  for (const int side : grid) started *= side;
  if (started != ranks)
    throw Error("the process grid makes " + std::to_string(started) + " ranks and " +
                std::to_string(ranks) + " run: make them agree");
  return grid;
}

Case read_multigrid(const json& object, const Communicator& comm) {
  MultigridProblem problem;
  problem.grid = grid_of<3>(object, comm.size());
  problem.extent = sides_of<3>(object, "extent", {32}, 1, 512);
  problem.levels = applications::levels_of(problem.extent);
  return {"multigrid_cg",
      {{"grid", problem.grid}, {"extent", problem.extent}, {"levels", problem.levels}},
      over_ghost_updates(multigrid_cg(problem, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

int side_of_mesh(const json& object, const std::string& app, int ranks) {
  const auto extent = sides_of<2>(object, "extent", {128}, 1, 8192);
  if (extent[0] != extent[1] || !is_side_of_mesh(extent[0], ranks))
    throw Error("--extent of the application " + app +
                " must be one power of two from 4 to 8192, twice, and give every rank a square");
  return extent[0];
}

Case read_finite_volume(const json& object, const Communicator& comm) {
  const int side = side_of_mesh(object, "finite_volume", comm.size());
  return {"finite_volume", {{"extent", {side, side}}},
      over_ghost_updates(finite_volume(side, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

Case read_poisson(const json& object, const Communicator& comm) {
  const int side = side_of_mesh(object, "poisson", comm.size());
  return {"poisson", {{"extent", {side, side}}},
      poisson_variants(poisson(side, MPI_COMM_WORLD), MPI_COMM_WORLD)};
}

Case read_hydrodynamics(const json& object, const Communicator& comm) {
  const HydrodynamicsProblem problem{
      grid_of<3>(object, comm.size()), sides_of<3>(object, "extent", {32}, 1, 512)};
  return {"hydrodynamics", {{"grid", problem.grid}, {"extent", problem.cells}},
      hydrodynamics_variants(problem, MPI_COMM_WORLD)};
}

Case read_shallow_water(const json& object, const Communicator& comm) {
  const ShallowWaterProblem problem{
      grid_of<2>(object, comm.size()), sides_of<2>(object, "extent", {128}, 2, 32768)};
  for (std::size_t d = 0; d < 2; ++d)
    if (problem.cells[d] < 2 * problem.ranks[d])
      throw Error(
          "--extent of the application shallow_water must give every rank two cells in each "
          "dimension");
  return {"shallow_water", {{"grid", problem.ranks}, {"extent", problem.cells}},
      shallow_water_variants(problem, MPI_COMM_WORLD)};
}

struct Known {
  const char* name;
  Case (*read)(const json&, const Communicator&);
};

constexpr Known applications[] = {{"multigrid_cg", read_multigrid},
    {"finite_volume", read_finite_volume}, {"poisson", read_poisson},
    {"shallow_water", read_shallow_water}, {"hydrodynamics", read_hydrodynamics}};

}  // namespace

Case read_application(const json& object, const Communicator& comm) {
  const std::string app = object.value("app", "");
  std::string names;
  for (const Known& known : applications) {
    if (app == known.name) {
      Case read = known.read(object, comm);
      read.params["app"] = app;
      read.params["ranks"] = comm.size();
      return read;
    }
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error("unknown application '" + app + "': write one of " + names);
}

}  // namespace parhelion::bench
