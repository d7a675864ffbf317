#include "parhelion/plan/interpreter.hpp"

#include <mutex>
#include <string>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

struct Known {
    std::mutex mutex;
    std::unique_ptr<const Interpreter> device;
};

Known& known() {
    static auto* const instance = new Known;  // plans that die during exit still refer to it
    return *instance;
}

}  // namespace

void register_interpreter(MemorySpace space, std::unique_ptr<const Interpreter> interpreter) {
    const std::lock_guard lock(known().mutex);
    if (space == MemorySpace::host || known().device)
        throw Error(std::string(to_string(space)) + " memory has an interpreter already: register one for another space");
    if (!interpreter) throw Error("an interpreter is a null pointer: pass one that runs programs");
    known().device = std::move(interpreter);
}

const Interpreter* interpreter_of(MemorySpace space) {
    if (space == MemorySpace::host) return nullptr;
    const std::lock_guard lock(known().mutex);
    if (known().device) return known().device.get();
    throw Error(std::string("nothing here copies between arrays in ") + to_string(space) +
                " memory: keep them in the host's memory, or "
                "register an interpreter for it (parhelion/plan/interpreter.hpp)");
}

}  // namespace parhelion
