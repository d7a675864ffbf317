#pragma once

#include "apps/application.hpp"

namespace parhelion::bench {

/// An application that is measured step by step over a way to exchange, and compared bit for bit with the reference.
class Running : public Contender {
public:
    /// Collective.
    Running(const MakeProgram& make, std::shared_ptr<Application> reference, int lines, SetupTimes& times);
    ~Running() override;

    void exchange() override;
    Values& values() override;
    /// Of an average step.
    Traffic traffic() const override;
    nlohmann::json explain() const override;
    std::optional<double> step_held(const std::function<void()>& hold) override;
    int exchange_lines() const override { return lines_; }

    Program& program() const;

private:
    class State;
    std::unique_ptr<ExchangeClock> clock_;
    std::unique_ptr<State> state_;
    int lines_;
};

}  // namespace parhelion::bench
