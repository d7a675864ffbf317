#pragma once

#include <functional>
#include <memory>

#include "apps/ghost_update.hpp"

namespace parhelion::bench {

/// A solver that runs on without end: after its last step it begins anew.
class Application {
public:
    virtual ~Application() = default;
    /// The initial state; another one in each round.
    virtual void start(unsigned round) = 0;
    /// One iteration or time step. Collective.
    virtual void step() = 0;
    /// All that the next step depends on, ghosts included.
    virtual std::vector<std::span<const double>> state() const = 0;
};

/// Collective. The application over a way to fill ghosts, which outlives it.
using MakeApplication = std::function<std::unique_ptr<Application>(GhostUpdate&)>;

}  // namespace parhelion::bench
