// What stands behind phl_machine.
#pragma once

#include <string>

#include "parhelion/placement/machine.hpp"

struct phl_machine {
    parhelion::placement::Machine machine;
    std::string source;
};
