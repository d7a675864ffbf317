// Transports of this build and machine; includes new ones automatically.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"
#include "support/memory.hpp"

namespace test {

struct Route {
  std::string transport;
  Memory memory;
};

inline std::string paired(const TransportInfo& info) {
  return info.scope == Scope::same_node ? info.name + "+mpi" : info.name;
}

/// xpmem gets arrays that only XPMEM can map.
inline Memory memory_for(const TransportInfo& info) {
  if (info.name == "xpmem") return Memory::elsewhere;
  return info.scope == Scope::same_node ? Memory::node_shared : Memory::ordinary;
}

inline bool is_usable(const std::string& name) {
  for (const TransportInfo& info : transports())
    if (info.name == name) return info.unavailable().empty();
  return false;
}

/// The routes in PARHELION_TEST_ROUTES, comma-separated, the same on every rank.
inline std::vector<Route> routes_asked_for(const char* list) {
  std::vector<Route> routes;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');)
    routes.push_back({name, Memory::node_shared});
  return routes;
}

/// Whether it supports slow arrays. Pool memory has no handles for device_ipc; device_mpi needs
/// another MPI (tests/device/moving_mpi.cpp).
inline bool takes_slow_memory(const TransportInfo& info) {
  if (info.name == "device_ipc" && driver_against_us().has_pools()) return false;
  if (info.name == "device_mpi" && std::getenv("PARHELION_TEST_PRELOAD") == nullptr) return false;
  const Reach reach = info.traits.reach[1];
  return reach != Reach::none && (reach != Reach::own_messages || !driver_against_us());
}

/// PARHELION_TEST_ONLY selects routes with this text in their name.
inline void leave_those_asked_for(std::vector<Route>& routes) {
  if (const char* only = std::getenv("PARHELION_TEST_ONLY"))
    std::erase_if(routes,
        [only](const Route& route) { return route.transport.find(only) == std::string::npos; });
}

inline void add_slow_routes(std::vector<Route>& routes) {
  for (const TransportInfo& info : transports())
    if (info.unavailable().empty() && info.scope != Scope::own_rank && takes_slow_memory(info))
      routes.push_back({paired(info), Memory::slow});
  routes.push_back({"auto", Memory::slow});
}

/// Whether ordinary arrays suit the route, for tests that ignore `route.memory`.
inline bool takes_any_array(const Route& route) {
  return route.memory != Memory::elsewhere && route.memory != Memory::slow;
}

/// Each usable transport (within a node with another one for the rest), some pairs, and auto.
inline std::vector<Route> all_routes() {
  if (const char* list = std::getenv("PARHELION_TEST_ROUTES")) return routes_asked_for(list);
  std::vector<Route> routes;
  if (driver_against_us()) {
    add_slow_routes(routes);
    leave_those_asked_for(routes);
    return routes;
  }
  for (const TransportInfo& info : transports())
    if (info.unavailable().empty() &&
        (info.scope != Scope::own_rank || Communicator(MPI_COMM_WORLD).size() == 1))
      routes.push_back({paired(info), memory_for(info)});
  routes.push_back({"mpi_neighbor+mpi", Memory::ordinary});
  if (is_usable("ucx")) routes.push_back({"staged_shared+ucx", Memory::ordinary});
  routes.push_back({"auto", Memory::node_shared});
  if (std::getenv("PARHELION_TEST_SLOW")) add_slow_routes(routes);
  leave_those_asked_for(routes);
  return routes;
}

/// `count` routes, by turn and number of ranks; all routes if each rank has a core. Oversubscribed
/// ranks need milliseconds per agreement.
inline std::vector<Route> routes_for(int turn, int count) {
  const auto all = all_routes();
  const int ranks = Communicator(MPI_COMM_WORLD).size();
  if (ranks <= 2) return all;
  std::vector<Route> some;
  for (int i = 0; i < count; ++i)
    some.push_back(all[static_cast<std::size_t>((turn + ranks) * count + i) % all.size()]);
  return some;
}

/// One route, by turn and number of ranks.
inline Route route_for(int turn) {
  const auto all = all_routes();
  return all[static_cast<std::size_t>(turn + Communicator(MPI_COMM_WORLD).size()) % all.size()];
}

}  // namespace test
