#include "apps/running.hpp"

#include "values.hpp"

namespace parhelion::bench {

Running::Running(const MakeProgram& make, std::shared_ptr<Application> reference, int lines, SetupTimes& times)
    : program_(make(clock_)), reference_(std::move(reference)), lines_(lines) {
    times.plan += clock_.setup_s;  // of the exchange alone: the application's own is the same in all ways
}

void Running::exchange() {
    program_->step();
    ++steps_;
    ++all_steps_;
}

void Running::refresh(unsigned round) {
    program_->start(round);
    for (steps_ = 0; steps_ < round;) exchange();
}

std::int64_t Running::count_wrong(unsigned round) const {
    reference_->start(round);
    for (std::int64_t step = 0; step < steps_; ++step) reference_->step();
    const auto mine = program_->state(), right = reference_->state();
    std::int64_t wrong = 0;
    for (std::size_t part = 0; part < mine.size(); ++part)
        for (std::size_t i = 0; i < mine[part].size(); ++i) wrong += !same_bits(mine[part][i], right[part][i]);
    return wrong;
}

Traffic Running::traffic() const {
    const Traffic all = program_->traffic();
    return all_steps_ == 0 ? all : Traffic{all.bytes / all_steps_, all.messages / all_steps_};
}

nlohmann::json Running::explain() const {
    const std::string told = program_->explain();
    return told.empty() ? nlohmann::json(nullptr) : nlohmann::json(told);
}

std::optional<double> Running::step_held(const std::function<void()>& hold) {
    clock_.held_s = 0;
    clock_.hold = &hold;
    exchange();
    clock_.hold = nullptr;
    return clock_.held_s;
}

}  // namespace parhelion::bench
