#include "over_ghosts.hpp"

#include <deque>

namespace applications {

namespace {

/// Forwards updates, times and counts them.
class Clocked final : public GhostUpdate {
 public:
  Clocked(GhostUpdatePointer way, ExchangeClock& clock) : way_(std::move(way)), clock_(clock) {}

  std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
    return clock_.set_up([&] { return way_->add(cells, components, count); });
  }
  void update(std::size_t number) override {
    clock_.exchange([&] { way_->update(number); });
    if (number >= calls_.size()) calls_.resize(number + 1);
    ++calls_[number];
  }
  Traffic traffic(std::size_t number) const override { return way_->traffic(number); }
  std::string explain() const override { return way_->explain(); }

  Traffic all_traffic() const {
    Traffic sum;
    for (std::size_t number = 0; number < calls_.size(); ++number) {
      const Traffic each = traffic(number);
      sum.bytes += each.bytes * calls_[number];
      sum.messages += each.messages * calls_[number];
      sum.known = sum.known && each.known;
    }
    return sum;
  }

 private:
  GhostUpdatePointer way_;
  ExchangeClock& clock_;
  std::vector<std::int64_t> calls_;  // per array
};

class OverGhosts final : public Program {
 public:
  OverGhosts(const MakeApplication& make, GhostUpdatePointer way, ExchangeClock& clock)
      : ghosts_(std::move(way), clock), application_(make(ghosts_)) {}

  void start(unsigned round) override { application_->start(round); }
  void step() override { application_->step(); }
  std::vector<std::span<const double>> state() const override { return application_->state(); }
  Traffic traffic() const override { return ghosts_.all_traffic(); }
  std::string explain() const override { return ghosts_.explain(); }

 private:
  Clocked ghosts_;
  std::unique_ptr<Application> application_;
};

}  // namespace

MakeProgram over_ghosts(MakeApplication make, std::function<GhostUpdatePointer()> way) {
  return [=](ExchangeClock& clock) { return std::make_unique<OverGhosts>(make, way(), clock); };
}

namespace {

class GatherAll final : public GhostUpdate {
 public:
  std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
    std::vector<Ghosted> added;
    for (int i = 0; i < count; ++i) {
      Array& array = arrays_.emplace_back(cells, components);
      added.push_back({array.values, arrays_.size() - 1});
    }
    return added;
  }

  void update(std::size_t number) override {
    Array& array = arrays_[number];
    MPI_Allgatherv(array.values.data(), array.cells.owned * array.components, MPI_DOUBLE,
        array.all.data(), array.counts.data(), array.offsets.data(), MPI_DOUBLE, array.cells.comm);
    double* ghost = array.values.data() + array.cells.owned * array.components;
    for (std::int64_t id : array.cells.ghosts)
      for (int c = 0; c < array.components; ++c)
        *ghost++ = array.all[static_cast<std::size_t>(id * array.components + c)];
  }

  Traffic traffic(std::size_t) const override { return {}; }

 private:
  struct Array {
    Cells cells;
    int components;
    std::vector<double> values, all;
    std::vector<int> counts, offsets{0};

    Array(const Cells& of, int each)
        : cells(of), components(each), values(of.size() * static_cast<std::size_t>(each)) {
      int ranks = 0;
      MPI_Comm_size(of.comm, &ranks);
      counts.resize(static_cast<std::size_t>(ranks));
      const int mine = of.owned * each;
      MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, of.comm);
      for (int count : counts) offsets.push_back(offsets.back() + count);
      all.resize(static_cast<std::size_t>(offsets.back()));
    }
  };
  std::deque<Array> arrays_;
};

}  // namespace

GhostUpdatePointer reference_update() { return std::make_unique<GatherAll>(); }

}  // namespace applications
