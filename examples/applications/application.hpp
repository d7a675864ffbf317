#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "ghost_update.hpp"

namespace applications {

/// What an application's exchanges take, and what it took to set them up.
struct ExchangeClock {
    const std::function<void()>* hold =
        nullptr;  // brings ranks together before each exchange, which is then timed
    double held_s = 0, setup_s = 0;

    void begin() {
        if (!hold) return;
        (*hold)();
        begun_ = MPI_Wtime();
    }
    void end() {
        if (hold) held_s += MPI_Wtime() - begun_;
    }
    template <class Work>
    void exchange(Work&& work) {
        begin();
        work();
        end();
    }
    template <class Work>
    decltype(auto) set_up(Work&& work) {
        struct Adder {
            double& total;
            double start = MPI_Wtime();
            ~Adder() { total += MPI_Wtime() - start; }
        } adder{setup_s};
        return work();
    }

private:
    double begun_ = 0;
};

/// A number from 0 to below 1 for each key, the same on all ranks (the finalizer of SplitMix64;
/// Steele, Lea & Flood, OOPSLA 2014).
constexpr std::uint64_t spread(std::uint64_t bits) {
    bits += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}
constexpr double scattered(std::uint64_t key) {
    return static_cast<double>(spread(key) >> 11) * 0x1p-53;
}

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

/// An application over one of its ways to exchange, which is clocked.
class Program : public Application {
public:
    /// What all exchanges so far have sent.
    virtual Traffic traffic() const = 0;
    /// Why the way does what it does; empty for those that do not choose.
    virtual std::string explain() const { return {}; }
    /// A value of the state where it lies, for a planted fault.
    virtual double* some_value() { return const_cast<double*>(&state().front().back()); }
};

/// Collective. The clock outlives the program.
using MakeProgram = std::function<std::unique_ptr<Program>(ExchangeClock&)>;

/// Collective. The application over a way to fill ghosts, which outlives it.
using MakeApplication = std::function<std::unique_ptr<Application>(GhostUpdate&)>;

}  // namespace applications
