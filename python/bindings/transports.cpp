#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "parhelion/transport/transport.hpp"

namespace nb = nanobind;

namespace parhelion::python {
namespace {

const char* reach_of(Scope scope) {
    switch (scope) {
        case Scope::anywhere: return "anywhere";
        case Scope::same_node: return "node";
        case Scope::own_rank: return "rank";
    }
    return "";
}

// (name, description, reach, why it cannot be used here or "")
nb::list list_transports() {
    nb::list result;
    for (const TransportInfo& info : transports())
        result.append(
            nb::make_tuple(info.name, info.description, reach_of(info.scope), info.unavailable ? info.unavailable() : std::string()));
    return result;
}

}  // namespace

void bind_transports(nb::module_& module) {
    module.def("transports", &list_transports, nb::sig("def transports() -> list[tuple[str, str, str, str]]"));
}

}  // namespace parhelion::python
