// Which transport serves which neighbor.
#pragma once

#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// What to use near (on the own node) and far; equal for a plain transport.
struct Choice {
    const TransportInfo* near = nullptr;
    const TransportInfo* far = nullptr;
    std::string name() const { return near == far ? near->name : near->name + "+" + far->name; }
};

/// "a" or "a+b" → Choice. Throws Error for unknown names and for transports that do not work or do not reach far.
Choice parse_choice(const std::string& name);

/// The options' name, else the environment's, else "auto".
std::string requested_transport(const std::string& from_options);

}  // namespace parhelion
