#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// What the processors have used, idle parts and other programs included, by the counters that
/// Linux keeps for RAPL (powercap). Memory and network are not in it. PARHELION_POWERCAP names
/// another folder than /sys/class/powercap.
class Energy {
public:
    /// Collective. The first rank of each node reads its counters.
    explicit Energy(const Communicator& comm);

    /// Joules of this rank's node since the first call; 0 on other ranks than the first of a node.
    /// Local.
    double used();

    /// Why some node does not tell; empty where all do. The same on all ranks.
    const std::string& why_not() const { return why_not_; }

private:
    struct Package {
        std::string counter;  // file of microjoules
        std::uint64_t last = 0, range = 0;
    };
    std::vector<Package> packages_;
    double joules_ = 0;
    std::string why_not_;
};

}  // namespace parhelion::bench
