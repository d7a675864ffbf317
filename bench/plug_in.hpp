#pragma once

#include <string>

#include "libraries/adapter.h"
#include "variant.hpp"

namespace parhelion::bench {

/// A symbol of `libphl_NAME.so` beside this program, which stays loaded. Throws CannotRun, with
/// what to do, where there is none or it does not load. Local.
const void* plug_in_symbol(const std::string& name, const char* symbol, const char* what_to_do);

/// The functions of the plug-in `libphl_adapter_LIBRARY.so`. Throws CannotRun where there is none.
const phl_adapter_functions& adapter_functions(const std::string& library, const char* symbol);

/// What a plug-in makes of `described`. Throws CannotRun where it cannot do the case.
std::unique_ptr<void, void (*)(void*)> make_adapter(const phl_adapter_functions& functions,
                                                    const char* variant, const void* described);

/// Another library's exchange.
VariantPointer make_plug_in_variant(const phl_adapter_functions& functions, const char* variant,
                                    const void* described, std::shared_ptr<Values> values,
                                    Traffic traffic);

}  // namespace parhelion::bench
