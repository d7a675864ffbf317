#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Energy of the processor packages by Linux's RAPL counters (powercap): idle cores and other
/// programs count, memory and network do not. PARHELION_POWERCAP replaces /sys/class/powercap.
class Energy {
 public:
  /// Collective. The first rank of each machine reads its counters.
  explicit Energy(const Communicator& comm);

  /// Local. Joules of the machine since construction, on its first rank; 0 on others.
  double used();

  /// Why a machine has no readable counters; empty if all have. The same on all ranks.
  const std::string& why_not() const { return why_not_; }

 private:
  struct Package {
    std::string counter;  // file, in microjoules
    std::uint64_t last = 0, range = 0;
  };
  std::vector<Package> packages_;
  double joules_ = 0;
  std::string why_not_;
};

}  // namespace parhelion::bench
