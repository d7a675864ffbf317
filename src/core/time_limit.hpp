#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace parhelion {

/// Whether PARHELION_CHECK is 1.
bool checks_by_environment();

/// PARHELION_TIMEOUT in seconds, 0 if unset, nullopt if it is no number from 0 on.
std::optional<double> told_time_limit();

/// Seconds: the option if positive, else PARHELION_TIMEOUT, else 30 in checked mode (option or
/// environment), else 0: no limit.
double time_limit(double from_options, bool checked = false);
/// The limit for collective set-up, where others may work for seconds: at least 5 s from options.
double setup_time_limit(double from_options);

/// A wait's duration. Each look adds at most 0.2 s: a stopped process or paused machine must not
/// blame its neighbors.
class WaitTime {
 public:
  using Clock = std::chrono::steady_clock;
  void look(Clock::time_point now) {
    waited_s_ += std::min(0.2, std::chrono::duration<double>(now - looked_).count());
    looked_ = now;
  }
  Clock::time_point looked() const { return looked_; }
  double seconds() const { return waited_s_; }

 private:
  Clock::time_point looked_ = Clock::now();
  double waited_s_ = 0;
};

/// Yields the core after a few calls: with more ranks than cores, each would poll to the end of its
/// time slice. After 2 ms sleeps 1/20 of the time waited, at most 1 ms.
class Patience {
 public:
  void wait() {
    if (++polls_ > eager_polls) wait_slowly();
  }

 private:
  static constexpr long eager_polls = 5;
  void wait_slowly();
  long polls_ = 0;
  std::chrono::steady_clock::time_point since_{};
};

/// "0.5 s", "30 s".
std::string seconds_text(double seconds);

}  // namespace parhelion
