#include "plug_in.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "parhelion/core/error.hpp"

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

const phl_peer_functions& peer_functions(const std::string& library, const char* symbol) {
    return *static_cast<const phl_peer_functions*>(plug_in_symbol(
        "peer_" + library, symbol, "`make peers` builds it where the library is installed"));
}

std::unique_ptr<void, void (*)(void*)> make_peer(const phl_peer_functions& functions,
                                                 const char* variant, const void* described) {
    char error[500] = "";
    void* peer = functions.make(described, variant, error, sizeof error);
    if (peer == nullptr) throw CannotRun(error);
    return {peer, functions.free};
}

namespace {

class PlugInVariant final : public Variant {
public:
    PlugInVariant(const phl_peer_functions& functions, const char* variant, const void* described,
                  std::shared_ptr<Values> values, Traffic traffic)
        : functions_(functions), values_(std::move(values)), traffic_(std::move(traffic)),
          peer_(make_peer(functions, variant, described)) {}

    void exchange() override {
        if (functions_.exchange(peer_.get()) != 0)
            throw Error("the other library's exchange failed", ErrorKind::communication);
    }
    Values& values() override { return *values_; }
    Traffic traffic() const override { return traffic_; }
    nlohmann::json explain() const override { return functions_.version; }

private:
    const phl_peer_functions& functions_;
    std::shared_ptr<Values> values_;
    Traffic traffic_;
    std::unique_ptr<void, void (*)(void*)> peer_;
};

}  // namespace

VariantPointer make_plug_in_variant(const phl_peer_functions& functions, const char* variant,
                                    const void* described, std::shared_ptr<Values> values,
                                    Traffic traffic) {
    return std::make_unique<PlugInVariant>(functions, variant, described, std::move(values),
                                           std::move(traffic));
}

}  // namespace parhelion::bench
