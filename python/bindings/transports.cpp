#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "parhelion/transport/transport.hpp"

namespace nb = nanobind;

namespace parhelion::python {
namespace {

// (name, description, whether only inside a node, why it cannot be used here or "")
nb::list list_transports() {
    nb::list result;
    for (const TransportInfo& info : transports())
        result.append(nb::make_tuple(info.name, info.description, info.scope == Scope::same_node,
                                     info.unavailable ? info.unavailable() : std::string()));
    return result;
}

}  // namespace

void bind_transports(nb::module_& module) { 
    module.def("transports", &list_transports, nb::sig("def transports() -> list[tuple[str, str, bool, str]]"));
 }

}  // namespace parhelion::python
