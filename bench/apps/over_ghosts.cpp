#include "apps/over_ghosts.hpp"

namespace parhelion::bench {

namespace {

/// Passes updates on, and counts them.
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
        }
        return sum;
    }

private:
    GhostUpdatePointer way_;
    ExchangeClock& clock_;
    std::vector<std::int64_t> calls_;  // by array
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

}  // namespace parhelion::bench
