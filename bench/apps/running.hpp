#pragma once

#include "apps/application.hpp"
#include "apps/ways/ways.hpp"

namespace parhelion::bench {

/// An application that is measured step by step over a way to fill ghosts, and compared bit for bit with the reference.
class Running : public Contender {
public:
    /// Collective.
    Running(const MakeApplication& make, GhostUpdatePointer way, std::shared_ptr<Application> reference, int lines, SetupTimes& times);
    ~Running() override;

    void exchange() override;
    Values& values() override;
    /// Of an average step.
    Traffic traffic() const override;
    nlohmann::json explain() const override;
    std::optional<double> step_held(const std::function<void()>& hold) override;
    int exchange_lines() const override { return lines_; }

    Application& application();

private:
    class Clocked;
    class State;
    std::unique_ptr<Clocked> ghosts_;
    std::unique_ptr<State> state_;
    int lines_;
};

}  // namespace parhelion::bench
