// The transports that this build and machine have: a new one is tested without another line.
#pragma once

#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"
#include "support/memory.hpp"

namespace test {

struct Route {
    std::string transport;  ///< as ExchangeOptions takes it
    Memory memory;          ///< where the fields lie
};

inline std::string paired(const TransportInfo& info) {
    return info.scope == Scope::same_node ? info.name + "+mpi_p2p" : info.name;
}

/// Each usable transport alone (one that reaches the own node only, with another for the rest), one pair, and auto.
inline std::vector<Route> all_routes() {
    std::vector<Route> routes;
    for (const TransportInfo& info : transports())
        if (info.unavailable().empty())
            routes.push_back({paired(info), info.scope == Scope::same_node ? Memory::node_shared : Memory::ordinary});
    routes.push_back({"mpi_neighbor+mpi_p2p", Memory::ordinary});
    routes.push_back({"auto", Memory::node_shared});
    return routes;
}

}  // namespace test
