#pragma once

#include <string>

#include "libraries/adapter.h"
#include "variant.hpp"

namespace parhelion::bench {

/// Local. A symbol of `libphl_NAME.so` beside this program; the library stays loaded. Throws
/// CannotRun, with `what_to_do`, if it is missing or does not load.
const void* plug_in_symbol(const std::string& name, const char* symbol, const char* what_to_do);

/// The functions of the plug-in `libphl_adapter_LIBRARY.so`. Throws CannotRun if it is missing.
const phl_adapter_functions& adapter_functions(const std::string& library, const char* symbol);

/// The plug-in's adapter for `described`. Throws CannotRun if the plug-in cannot run the case.
std::unique_ptr<void, void (*)(void*)> make_adapter(
    const phl_adapter_functions& functions, const char* variant, const void* described);

/// A variant over another library's exchange.
VariantPointer make_plug_in_variant(const phl_adapter_functions& functions, const char* variant,
    const void* described, std::shared_ptr<Values> values, Traffic traffic);

}  // namespace parhelion::bench
