#pragma once

#include "halo/baselines.hpp"

namespace parhelion::bench {

/// Another library's halo exchange from the plug-in `libphl_peer_LIBRARY.so` beside this program.
/// Throws CannotRun on every rank where there is no plug-in, or where it cannot do the case.
ContenderPointer make_halo_peer(const std::string& library, const std::string& variant, const HaloSetup& setup,
                                SetupTimes& times);

}  // namespace parhelion::bench
