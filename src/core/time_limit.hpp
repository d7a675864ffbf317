// How long a rank waits for others, and what it checks, where the program does not say.
#pragma once

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

/// "0.5 s", "30 s", for messages.
std::string seconds_text(double seconds);

}  // namespace parhelion
