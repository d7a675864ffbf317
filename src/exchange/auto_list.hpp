// What the user wants `auto` to try, and what not.
#pragma once

#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// Names of transports, and of ways to go in stages, that are tried although `auto` would not, and of those that are left out.
struct AutoList {
    std::vector<std::string> added, left_out;
    bool adds(const std::string& name) const;
    bool leaves_out(const std::string& name) const;
};

/// "+cma,-shared" → AutoList. Throws Error for what has no sign, for names that `known` does not hold, and for one with both signs.
AutoList parse_auto_list(const std::string& text, const std::vector<TransportInfo>& known);

/// The environment variable PARHELION_AUTO; empty where it is not set.
std::string auto_list_text();

}  // namespace parhelion
