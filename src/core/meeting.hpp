// The reduction behind every agreement.
#pragma once

#include <cstdint>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

/// Collective. The text of rank `source`.
std::string broadcast(const Communicator& comm, std::string text, int source);

struct Met {
    int complainer;  ///< the lowest rank that complains, or −1
    bool equal;      ///< all prints
};

/// Collective, one reduction, of one form wherever ranks agree: those that are in different calls
/// (Doing) meet in it, too, and each of them then throws an Error that says who is where.
Met meet(const Communicator& comm, bool complains, std::uint64_t print);

/// Collective. The complaint of rank `source`, which has one, thrown on every rank.
[[noreturn]] void throw_complaint(const Communicator& comm, const Complaint& mine, int source);

}  // namespace parhelion
