#include "apps/running.hpp"

#include "clock.hpp"
#include "values.hpp"

namespace parhelion::bench {

/// Passes updates on, and counts them. With `hold`, ranks come together before each, and what it then takes is added up.
class Running::Clocked final : public GhostUpdate {
public:
    explicit Clocked(GhostUpdatePointer way) : way_(std::move(way)) {}

    std::vector<Ghosted> add(const Cells& cells, int components, int count) override {
        return timed(setup_s, [&] { return way_->add(cells, components, count); });
    }
    void update(std::size_t number) override {
        if (hold) {
            (*hold)();
            timed(held_s, [&] { way_->update(number); });
        } else {
            way_->update(number);
        }
        if (number >= calls.size()) calls.resize(number + 1);
        ++calls[number];
    }
    Traffic traffic(std::size_t number) const override { return way_->traffic(number); }
    std::string explain() const override { return way_->explain(); }

    const std::function<void()>* hold = nullptr;
    double held_s = 0, setup_s = 0;
    std::vector<std::int64_t> calls;  // by array

private:
    GhostUpdatePointer way_;
};

/// The application's state. In round r it is looked at from step r on, so that steps upon steps are compared, too.
class Running::State final : public Values {
public:
    State(std::unique_ptr<Application> application, std::shared_ptr<Application> reference)
        : application_(std::move(application)), reference_(std::move(reference)) {}

    void step() {
        application_->step();
        ++steps_;
        ++all_steps_;
    }
    void refresh(unsigned round) override {
        application_->start(round);
        for (steps_ = 0; steps_ < round;) step();
    }
    // Collective, unlike others: the reference takes the same steps.
    std::int64_t count_wrong(unsigned round) const override {
        reference_->start(round);
        for (std::int64_t step = 0; step < steps_; ++step) reference_->step();
        const auto mine = application_->state(), right = reference_->state();
        std::int64_t wrong = 0;
        for (std::size_t part = 0; part < mine.size(); ++part)
            for (std::size_t i = 0; i < mine[part].size(); ++i) wrong += !same_bits(mine[part][i], right[part][i]);
        return wrong;
    }
    std::int64_t all_steps() const { return all_steps_; }
    Application& application() { return *application_; }

private:
    std::unique_ptr<Application> application_;
    std::shared_ptr<Application> reference_;
    std::int64_t steps_ = 0, all_steps_ = 0;
};

Running::Running(const MakeApplication& make, GhostUpdatePointer way, std::shared_ptr<Application> reference, int lines, SetupTimes& times)
    : ghosts_(std::make_unique<Clocked>(std::move(way))), lines_(lines) {
    state_ = std::make_unique<State>(make(*ghosts_), std::move(reference));
    times.plan += ghosts_->setup_s;  // of the exchange alone: the application's own is the same in all ways
}

Running::~Running() = default;

void Running::exchange() { state_->step(); }

Values& Running::values() { return *state_; }

Traffic Running::traffic() const {
    Traffic sum;
    for (std::size_t number = 0; number < ghosts_->calls.size(); ++number) {
        const Traffic each = ghosts_->traffic(number);
        sum.bytes += each.bytes * ghosts_->calls[number];
        sum.messages += each.messages * ghosts_->calls[number];
    }
    const std::int64_t steps = state_->all_steps();
    return steps == 0 ? sum : Traffic{sum.bytes / steps, sum.messages / steps};
}

nlohmann::json Running::explain() const {
    const std::string told = ghosts_->explain();
    return told.empty() ? nlohmann::json(nullptr) : nlohmann::json(told);
}

std::optional<double> Running::step_held(const std::function<void()>& hold) {
    ghosts_->held_s = 0;
    ghosts_->hold = &hold;
    state_->step();
    ghosts_->hold = nullptr;
    return ghosts_->held_s;
}

Application& Running::application() { return state_->application(); }

}  // namespace parhelion::bench
