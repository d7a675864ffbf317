// How long a rank waits for others, and what it checks, where the program does not say.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

namespace parhelion {

/// Whether the environment variable PARHELION_CHECK is 1.
bool checks_by_environment();

/// Seconds: what the program says, where that is more than 0; else PARHELION_TIMEOUT; else some 30
/// where it is checked, by the program or by the environment; else 0, which is for ever.
double time_limit(double from_options, bool checked = false);
/// The same for waits while something is made, where others may work for seconds: what the options
/// of an exchange say is no less than 5 s.
double setup_time_limit(double from_options, bool checked = false);

/// How long a wait has taken. Between two looks at most 0.2 s count: a process that was stopped, or
/// whose machine was paused, does not blame its neighbors for that time.
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

/// "0.5 s", "30 s", for messages.
std::string seconds_text(double seconds);

}  // namespace parhelion
