#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

/// Seconds of a monotonic clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls `work` and adds its seconds to `total`.
template <class Work>
decltype(auto) timed(double& total, Work&& work) {
  struct Adder {
    double& total;
    double start = now();
    ~Adder() { total += now() - start; }
  } adder{total};
  return work();
}

/// Reason why a variant cannot run here, thrown on every rank or on none; other variants continue.
/// An invalid job or data set is a parhelion::Error instead, exit status 2.
struct CannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Work between begin() and end(): ranks spin and touch no array.
struct Work {
  double seconds = 0;  // mean over ranks; 0: no work
  double uneven = 0;   // rank 0 works (1 - uneven) * seconds, the last (1 + uneven) * seconds
  bool any() const { return seconds > 0; }
  double of_rank(int rank, int ranks) const {
    return seconds * (1 + uneven * (ranks > 1 ? 2.0 * rank / (ranks - 1) - 1 : 0));
  }
};

inline void spin(double seconds) {
  for (const double end = now() + seconds; now() < end;) {
  }
}

/// The arrays of a variant. Both functions are local.
class Values {
 public:
  virtual ~Values() = default;
  /// Writes the round's values to owned cells and poison to ghosts.
  virtual void refresh(unsigned round) = 0;
  /// Number of wrong elements after an exchange, including owned cells and guards.
  virtual std::int64_t count_wrong(unsigned round) const = 0;
};

/// A message of an exchange, or a copy to the own rank.
struct Sent {
  int rank = 0;
  std::int64_t bytes = 0;
};

/// Target or source of a message, and its length.
struct Envelope {
  int rank = 0, tag = 0;
  std::size_t bytes = 0;

  int count() const { return static_cast<int>(bytes); }
};

/// Messages that one rank sends in one exchange.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  std::vector<Sent> sent = {};  // empty if unknown
  bool known = true;            // bytes and messages
  void add(const Sent& message) {
    bytes += message.bytes;
    ++messages;
    sent.push_back(message);
  }
};

/// Seconds of post-recv, post-send, wait-recv and wait-send.
using Phases = std::array<double, 4>;

/// An implementation of a case's exchange: constructed once, run many times.
class Variant {
 public:
  virtual ~Variant() = default;
  /// One blocking forward exchange of all fields.
  virtual void exchange() = 0;
  virtual void exchange_many(std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) exchange();
  }
  /// The same in two halves, if has_halves(), with work between them.
  virtual bool has_halves() const { return false; }
  virtual void begin() {}
  virtual void end() {}
  /// The same in the phases of Comb (LLNL); adds each one's seconds. By default begin() is
  /// post-send, end() wait-recv.
  virtual void exchange_in_phases(Phases& seconds) {
    timed(seconds[1], [&] { begin(); });
    timed(seconds[2], [&] { end(); });
  }
  virtual Values& values() = 0;
  virtual Traffic traffic() const = 0;
  /// Explains a choice of transports; null if there was none.
  virtual nlohmann::json explain() const { return nullptr; }
  /// True if ranks may write their arrays only after *all* ended an exchange: the checks then add
  /// a barrier.
  virtual bool needs_barrier_between_steps() const { return false; }
  /// Of applications: runs a step with `hold`, a barrier, before each exchange, so that load
  /// imbalance does not count. Returns this rank's seconds in exchanges.
  virtual std::optional<double> step_held(const std::function<void()>& hold) {
    return (void)hold, std::nullopt;
  }
  /// Of applications: lines of code of the exchange; 0: not counted.
  virtual int exchange_lines() const { return 0; }
};

using VariantPointer = std::unique_ptr<Variant>;

/// Seconds that this rank spent constructing a variant.
struct SetupTimes {
  double pattern = 0;  // neighbors and messages
  double plan = 0;     // buffers, types, requests, compiled copies
};

/// A variant by name, not yet constructed.
struct Entry {
  std::string name;
  std::string role;  // own, baseline, library or floor
  /// Collective; throws CannotRun on every rank or on none.
  std::function<std::unique_ptr<Variant>(SetupTimes&)> make;
  /// Excluded from "all".
  bool only_by_name = false;
  /// Why this build cannot run it on this machine; empty if it can, or if only a run shows.
  std::string unavailable = {};
};

/// A case of a benchmark with its variants.
struct Case {
  std::string name;
  nlohmann::json params;
  std::vector<Entry> entries;
  Work work = {};  // between begin and end
  bool phases = false;
};

/// A row of a benchmark's table of variants.
template <class Setup>
struct TableRow {
  const char* name;
  const char* role;
  VariantPointer (*make)(const Setup&, SetupTimes&);
  bool only_by_name = false;
};

template <class Setup, std::size_t count>
void add_rows(
    std::vector<Entry>& entries, const TableRow<Setup> (&table)[count], const Setup& setup) {
  for (const TableRow<Setup>& each : table)
    entries.push_back({each.name, each.role,
        [=](SetupTimes& times) { return each.make(setup, times); }, each.only_by_name});
}

/// The entries by name, in the order of `names`; "all", or no name: all but `only_by_name`. Throws
/// Error, listing the known names, if one is unknown.
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names);

/// `planted_fault`, only by name: a correct variant that corrupts one byte on the last rank, to
/// test that the checks detect it and the program exits with status 1.
Entry planted_fault(MPI_Comm comm, std::function<VariantPointer(SetupTimes&)> correct,
    std::function<std::byte*(Variant&)> victim);

}  // namespace parhelion::bench
