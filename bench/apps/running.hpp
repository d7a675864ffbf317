#pragma once

#include "apps/application.hpp"

namespace parhelion::bench {

/// An application that is measured step by step over a way to exchange, and its state compared bit for bit with the reference. In round r it is
/// looked at from step r on, so that steps upon steps are compared, too.
class Running final : public Contender, private Values {
public:
    /// Collective.
    Running(const MakeProgram& make, std::shared_ptr<Application> reference, int lines, SetupTimes& times);

    void exchange() override;
    Values& values() override { return *this; }
    /// Of an average step.
    Traffic traffic() const override;
    nlohmann::json explain() const override;
    std::optional<double> step_held(const std::function<void()>& hold) override;
    int exchange_lines() const override { return lines_; }

    Program& program() const { return *program_; }

private:
    void refresh(unsigned round) override;
    /// Collective, unlike others: the reference takes the same steps.
    std::int64_t count_wrong(unsigned round) const override;

    ExchangeClock clock_;
    std::unique_ptr<Program> program_;
    std::shared_ptr<Application> reference_;
    int lines_;
    std::int64_t steps_ = 0, all_steps_ = 0;  // of this round, and of all
};

}  // namespace parhelion::bench
