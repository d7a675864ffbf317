// Builds the simulated machine from the description of `parhelion model simulate`: per level name,
// units per parent unit, bytes/s and seconds of a unit's uplink:
//
//     level node 27 1.22e10 1.0e-6
//     level core 64 inf 2e-7
//
// Each unit has one link to its parent per direction, shared by its ranks; "inf" is a link without
// contention. Messages inside the innermost unit take one link per sender, apart from the uplinks:
// SimGrid solves all flows with common links together.
#include <simgrid/s4u.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

constexpr double never_full = 1e15;  // bytes/s

struct Level {
  std::string name;
  int count = 1;
  double bandwidth = never_full, latency = 0;
};

std::vector<Level> read_levels(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read the machine's description ") + path);
  std::vector<Level> levels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string keyword, bandwidth;
    Level level;
    if (!(words >> keyword) || keyword != "level") continue;
    if (!(words >> level.name >> level.count >> bandwidth >> level.latency) || level.count < 1)
      throw std::runtime_error("the machine's description has a bad line: " + line);
    if (bandwidth != "inf") level.bandwidth = std::stod(bandwidth);
    levels.push_back(level);
  }
  if (levels.empty()) throw std::runtime_error("the machine's description has no level");
  return levels;
}

using NetPoint = simgrid::kernel::routing::NetPoint;
using Route = std::vector<sg::LinkInRoute>;

Route never_full_link(sg::NetZone* zone, const std::string& name, double latency) {
  auto* link = zone->create_link(name, never_full);
  link->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE)->set_latency(latency)->seal();
  return {sg::LinkInRoute(link)};
}

// A unit's uplink, and in the other direction its downlink.
Route way_out(sg::NetZone* zone, const Level& level, const std::string& unit) {
  if (level.bandwidth >= never_full) return never_full_link(zone, "out" + unit, level.latency);
  auto* link = zone->create_split_duplex_link("out" + unit, level.bandwidth);
  link->set_latency(level.latency)->seal();
  return {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)};
}

struct Unit {
  sg::NetZone* zone;
  NetPoint* gate;  ///< router of all routes in and out
};

// Counters for host names n<node>.<core>; cores count within the node.
struct Names {
  int node = 0, core = 0;
};

Unit cores(const Level& level, const std::string& name, Names& names, sg::NetZone* parent) {
  auto* zone = sg::create_full_zone("zone" + name);
  if (parent != nullptr) zone->set_parent(parent);
  NetPoint* gate = zone->create_router("gate" + name);
  std::vector<NetPoint*> points;
  for (int u = 0; u < level.count; ++u) {
    auto* host = zone->create_host(
        "n" + std::to_string(names.node) + "." + std::to_string(names.core++), 1e9);
    host->seal();
    points.push_back(host->get_netpoint());
    const auto own = name + "-" + std::to_string(u);
    zone->add_route(points.back(), gate, nullptr, nullptr, way_out(zone, level, own), true);
    zone->add_route(points.back(), points.back(), nullptr, nullptr,
        never_full_link(zone, "self" + own, 0), false);
  }
  for (std::size_t a = 0; a < points.size(); ++a) {
    const Route inside =
        never_full_link(zone, "inside" + name + "-" + std::to_string(a), 2 * level.latency);
    for (std::size_t b = 0; b < points.size(); ++b)
      if (a != b) zone->add_route(points[a], points[b], nullptr, nullptr, inside, false);
  }
  zone->seal();
  return {zone, gate};
}

Unit build(const std::vector<Level>& levels, std::size_t depth, const std::string& name,
    Names& names, sg::NetZone* parent) {
  if (depth + 1 == levels.size()) return cores(levels[depth], name, names, parent);
  auto* zone = sg::create_star_zone("zone" + name);
  if (parent != nullptr) zone->set_parent(parent);
  const Level& level = levels[depth];
  for (int u = 0; u < level.count; ++u) {
    if (depth == 0) names = {u, 0};
    const std::string own = name + "-" + level.name + std::to_string(u);
    const Unit inner = build(levels, depth + 1, own, names, zone);
    zone->add_route(
        inner.zone->get_netpoint(), nullptr, inner.gate, nullptr, way_out(zone, level, own), true);
  }
  NetPoint* gate = zone->create_router("gate" + name);
  zone->seal();
  return {zone, gate};
}

}  // namespace

extern "C" void load_platform(const sg::Engine&);
void load_platform(const sg::Engine&) {
  const char* path = std::getenv("PARHELION_SIMULATED_MACHINE");
  if (path == nullptr)
    throw std::runtime_error("PARHELION_SIMULATED_MACHINE does not name the machine's description");
  Names names;
  build(read_levels(path), 0, "", names, nullptr);
}
