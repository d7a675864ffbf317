#pragma once

#include <string>

namespace parhelion::bench {

/// A symbol of `libphl_NAME.so` beside this program, which stays loaded. Throws CannotRun, with
/// what to do, where there is none or it does not load. Local.
const void* plug_in_symbol(const std::string& name, const char* symbol, const char* what_to_do);

}  // namespace parhelion::bench
