#include "plug_in.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "errors.hpp"

namespace parhelion::bench {

const void* plug_in_symbol(const std::string& name, const char* symbol, const char* what_to_do) {
    const auto place =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / ("libphl_" + name + ".so");
    if (!std::filesystem::exists(place))
        throw CannotRun("there is no " + place.filename().string() + ": " + what_to_do);
    void* handle =
        dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: libraries do not expect it
    if (handle == nullptr) throw CannotRun(std::string("its plug-in does not load: ") + dlerror());
    const void* address = dlsym(handle, symbol);
    if (address == nullptr) throw CannotRun(place.string() + " is no plug-in of this program");
    return address;
}

}  // namespace parhelion::bench
