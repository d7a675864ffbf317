#pragma once

#include "gather/baselines.hpp"

namespace parhelion::bench {

/// Another library's gather from the plug-in `libphl_peer_LIBRARY.so` beside this program.
/// Throws CannotRun on every rank where there is no plug-in, or where it cannot do the case.
ContenderPointer make_gather_peer(const std::string& library, const std::string& variant, const GatherSetup& setup,
                                  SetupTimes& times);

}  // namespace parhelion::bench
