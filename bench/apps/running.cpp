#include "apps/running.hpp"

#include "values.hpp"

namespace parhelion::bench {

/// The application's state. In round r it is looked at from step r on, so that steps upon steps are compared, too.
class Running::State final : public Values {
public:
    State(std::unique_ptr<Program> program, std::shared_ptr<Application> reference)
        : program_(std::move(program)), reference_(std::move(reference)) {}

    void step() {
        program_->step();
        ++steps_;
        ++all_steps_;
    }
    void refresh(unsigned round) override {
        program_->start(round);
        for (steps_ = 0; steps_ < round;) step();
    }
    // Collective, unlike others: the reference takes the same steps.
    std::int64_t count_wrong(unsigned round) const override {
        reference_->start(round);
        for (std::int64_t step = 0; step < steps_; ++step) reference_->step();
        const auto mine = program_->state(), right = reference_->state();
        std::int64_t wrong = 0;
        for (std::size_t part = 0; part < mine.size(); ++part)
            for (std::size_t i = 0; i < mine[part].size(); ++i) wrong += !same_bits(mine[part][i], right[part][i]);
        return wrong;
    }
    std::int64_t all_steps() const { return all_steps_; }
    Program& program() const { return *program_; }

private:
    std::unique_ptr<Program> program_;
    std::shared_ptr<Application> reference_;
    std::int64_t steps_ = 0, all_steps_ = 0;
};

Running::Running(const MakeProgram& make, std::shared_ptr<Application> reference, int lines, SetupTimes& times)
    : clock_(std::make_unique<ExchangeClock>()), lines_(lines) {
    state_ = std::make_unique<State>(make(*clock_), std::move(reference));
    times.plan += clock_->setup_s;  // of the exchange alone: the application's own is the same in all ways
}

Running::~Running() = default;

void Running::exchange() { state_->step(); }

Values& Running::values() { return *state_; }

Traffic Running::traffic() const {
    const Traffic all = program().traffic();
    const std::int64_t steps = state_->all_steps();
    return steps == 0 ? all : Traffic{all.bytes / steps, all.messages / steps};
}

nlohmann::json Running::explain() const {
    const std::string told = program().explain();
    return told.empty() ? nlohmann::json(nullptr) : nlohmann::json(told);
}

std::optional<double> Running::step_held(const std::function<void()>& hold) {
    clock_->held_s = 0;
    clock_->hold = &hold;
    state_->step();
    clock_->hold = nullptr;
    return clock_->held_s;
}

Program& Running::program() const { return state_->program(); }

}  // namespace parhelion::bench
