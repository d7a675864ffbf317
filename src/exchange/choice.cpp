#include "exchange/choice.hpp"

#include <cstdlib>

#include "parhelion/core/error.hpp"

namespace parhelion {

Choice parse_choice(const std::string& name) {
    const auto plus = name.find('+');
    const TransportInfo& near = find_transport(name.substr(0, plus));
    const TransportInfo& far = plus == std::string::npos ? near : find_transport(name.substr(plus + 1));
    if (plus != std::string::npos && far.scope != Scope::anywhere)
        throw Error("transport " + far.name + " reaches only neighbors on the own node: put it before the +, as in " +
                    far.name + "+mpi_persistent");
    return {&near, &far};
}

std::string requested_transport(const std::string& from_options) {
    if (!from_options.empty()) return from_options;
    const char* from_environment = std::getenv("PARHELION_TRANSPORT");
    return from_environment != nullptr && *from_environment != '\0' ? from_environment : "auto";
}

}  // namespace parhelion
