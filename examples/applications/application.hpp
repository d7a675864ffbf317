#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "ghost_update.hpp"

namespace applications {

/// Times an application's exchanges (`held_s`) and their set-up (`setup_s`), in seconds.
struct ExchangeClock {
  const std::function<void()>* hold =
      nullptr;  // synchronizes the ranks before each timed exchange; null: no timing
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

/// Finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
constexpr std::uint64_t spread(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}
constexpr double scattered(std::uint64_t key) {
  return static_cast<double>(spread(key) >> 11) * 0x1p-53;
}

/// A solver that restarts after its last step.
class Application {
 public:
  virtual ~Application() = default;
  /// Sets the initial state, which differs from round to round.
  virtual void start(unsigned round) = 0;
  /// Performs one iteration or time step. Collective.
  virtual void step() = 0;
  /// Everything that the next step depends on, ghosts included.
  virtual std::vector<std::span<const double>> state() const = 0;
};

/// An application with one exchange method, which an ExchangeClock times.
class Program : public Application {
 public:
  /// Traffic of all exchanges so far.
  virtual Traffic traffic() const = 0;
  /// Explains the choice of transport; empty if the method has no choice.
  virtual std::string explain() const { return {}; }
  /// Address of a value of the state, to plant a fault.
  virtual double* some_value() { return const_cast<double*>(&state().front().back()); }
};

/// Collective. The clock must outlive the program.
using MakeProgram = std::function<std::unique_ptr<Program>(ExchangeClock&)>;

/// Collective. The GhostUpdate must outlive the application.
using MakeApplication = std::function<std::unique_ptr<Application>(GhostUpdate&)>;

}  // namespace applications
