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
      dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: libraries do not support it
  if (handle == nullptr) throw CannotRun(std::string("its plug-in does not load: ") + dlerror());
  const void* address = dlsym(handle, symbol);
  if (address == nullptr) throw CannotRun(place.string() + " is not a plug-in of this program");
  return address;
}

const phl_adapter_functions& adapter_functions(const std::string& library, const char* symbol) {
  return *static_cast<const phl_adapter_functions*>(plug_in_symbol(
      "adapter_" + library, symbol, "`make libraries` builds it where the library is installed"));
}

std::unique_ptr<void, void (*)(void*)> make_adapter(
    const phl_adapter_functions& functions, const char* variant, const void* described) {
  char error[500] = "";
  void* adapter = functions.make(described, variant, error, sizeof error);
  if (adapter == nullptr) throw CannotRun(error);
  return {adapter, functions.free};
}

namespace {

class PlugInVariant final : public Variant {
 public:
  PlugInVariant(const phl_adapter_functions& functions, const char* variant, const void* described,
      std::shared_ptr<Values> values, Traffic traffic)
      : functions_(functions), values_(std::move(values)), traffic_(std::move(traffic)),
        adapter_(make_adapter(functions, variant, described)) {}

  void exchange() override {
    if (functions_.exchange(adapter_.get()) != 0)
      throw Error("the other library's exchange failed", ErrorKind::communication);
  }
  Values& values() override { return *values_; }
  Traffic traffic() const override { return traffic_; }
  nlohmann::json explain() const override { return functions_.version; }

 private:
  const phl_adapter_functions& functions_;
  std::shared_ptr<Values> values_;
  Traffic traffic_;
  std::unique_ptr<void, void (*)(void*)> adapter_;
};

}  // namespace

VariantPointer make_plug_in_variant(const phl_adapter_functions& functions, const char* variant,
    const void* described, std::shared_ptr<Values> values, Traffic traffic) {
  return std::make_unique<PlugInVariant>(
      functions, variant, described, std::move(values), std::move(traffic));
}

}  // namespace parhelion::bench
