#pragma once

#include <string>

namespace parhelion::bench {

/// A symbol of the plug-in `libphl_peer_LIBRARY.so` beside this program, which stays loaded. Throws CannotRun, with what to do,
/// where there is none or it does not load. Local.
const void* plug_in_symbol(const std::string& library, const char* symbol);

}  // namespace parhelion::bench
