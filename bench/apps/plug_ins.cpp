#include "apps/plug_ins.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"
#include "plug_in.hpp"
#include "variant.hpp"

namespace parhelion::bench {

using namespace applications;
using applications::Program;

namespace {

constexpr std::size_t name_length = 64, text_length = 4000;
constexpr int arrays = 6;

/// Layout of `problem` in examples/shallow_water/shallow_water_c.f90.
struct Asked {
  int way, comm, rank, cells[2], ranks[2];
  void (*begins)(ExchangeClock*);
  void (*ends)(ExchangeClock*);
  ExchangeClock* clock;
};

template <class Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(const_cast<void*>(
      plug_in_symbol("shallow_water", name, "a build with a Fortran compiler makes it")));
}

struct Model {
  void* (*create)(const Asked*, const char*) = function<void*(const Asked*, const char*)>(
      "phl_shallow_water_create");
  int (*prepare)(void*) = function<int(void*)>("phl_shallow_water_prepare");
  void (*free)(void*) = function<void(void*)>("phl_shallow_water_free");
  void (*start)(void*, int) = function<void(void*, int)>("phl_shallow_water_start");
  void (*step)(void*) = function<void(void*)>("phl_shallow_water_step");
  std::int64_t (*state)(void*, int, double*) = function<std::int64_t(void*, int, double*)>(
      "phl_shallow_water_state");
  double* (*value)(void*) = function<double*(void*)>("phl_shallow_water_value");
  void (*traffic)(void*, std::int64_t*, std::int64_t*) =
      function<void(void*, std::int64_t*, std::int64_t*)>("phl_shallow_water_traffic");
  void (*text)(void*, int, char*) = function<void(void*, int, char*)>("phl_shallow_water_text");
};

class ShallowWater final : public Program {
 public:
  ShallowWater(Asked asked, const std::string& transport) {
    std::array<char, name_length> name{};
    transport.copy(name.data(), name.size() - 1);
    run_ = {model_.create(&asked, name.data()), model_.free};
    const int failed = asked.clock->set_up([&] { return model_.prepare(run_.get()); });
    if (failed != 0) throw CannotRun(text());
    for (int which = 0; which < arrays; ++which)
      seen_.emplace_back(static_cast<std::size_t>(model_.state(run_.get(), which, nullptr)));
  }

  void start(unsigned round) override { model_.start(run_.get(), static_cast<int>(round)); }
  void step() override { model_.step(run_.get()); }
  std::vector<std::span<const double>> state() const override {
    for (int which = 0; which < arrays; ++which)
      model_.state(run_.get(), which, seen_[static_cast<std::size_t>(which)].data());
    return {seen_.begin(), seen_.end()};
  }
  double* some_value() override { return model_.value(run_.get()); }
  applications::Traffic traffic() const override {
    applications::Traffic all;
    model_.traffic(run_.get(), &all.bytes, &all.messages);
    return all;
  }
  std::string explain() const override { return text(); }

 private:
  std::string text() const {
    std::array<char, text_length> letters{};
    model_.text(run_.get(), static_cast<int>(letters.size()), letters.data());
    return letters.data();
  }

  Model model_;
  std::unique_ptr<void, void (*)(void*)> run_{nullptr, model_.free};
  mutable std::vector<std::vector<double>> seen_;
};

}  // namespace

MakeProgram shallow_water(const ShallowWaterProblem& problem, MPI_Comm comm, ShallowWaterWay way,
    const std::string& transport) {
  return [=](ExchangeClock& clock) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const Asked asked{static_cast<int>(way), static_cast<int>(MPI_Comm_c2f(comm)), rank,
        {problem.cells[0], problem.cells[1]}, {problem.ranks[0], problem.ranks[1]},
        [](ExchangeClock* each) { each->begin(); }, [](ExchangeClock* each) { each->end(); },
        &clock};
    return std::make_unique<ShallowWater>(asked, transport);
  };
}

namespace {

class AdapterVectors final : public GhostUpdate {
 public:
  explicit AdapterVectors(const std::string& library)
      : functions_(adapter_functions(library, "phl_vector_adapter")) {}

  std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
    const phl_adapter_cells given{cells.comm, cells.owned,
        static_cast<std::int32_t>(cells.ghosts.size()), cells.ghosts.data(), cells.owners.data(),
        nullptr, "float64", components, nullptr, nullptr};
    std::vector<Ghosted> added;
    for (int i = 0; i < count; ++i) {
      adapters_.push_back(make_adapter(functions_, "", &given));
      const std::span<double> values(functions_.values(adapters_.back().get()),
          cells.size() * static_cast<std::size_t>(components));
      std::ranges::fill(values, 0.0);
      added.push_back({values, adapters_.size() - 1});
    }
    return added;
  }
  void update(std::size_t number) override {
    if (functions_.exchange(adapters_[number].get()) != 0)
      throw Error("the other library's update failed", ErrorKind::communication);
  }
  applications::Traffic traffic(std::size_t) const override { return {.known = false}; }
  std::string explain() const override { return functions_.version; }

 private:
  const phl_adapter_functions& functions_;
  std::vector<std::unique_ptr<void, void (*)(void*)>> adapters_;
};

}  // namespace

GhostUpdatePointer with_vectors_of(const std::string& library) {
  return std::make_unique<AdapterVectors>(library);
}

}  // namespace parhelion::bench
