// Node topology from hwloc XML and /sys, and bindings.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "parhelion/core/error.hpp"
#include "placement/node_topology.hpp"
#include "support/cases.hpp"

using namespace parhelion::placement;
using parhelion::Error;

namespace {

// Two sockets, each with two NUMA domains of one L3 cache, two cores and four threads: 16 threads.
std::string xml_of_two_sockets() {
  std::string text =
      "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object type=\"Machine\" "
      "cpuset=\"0xffff\">\n";
  const auto hex = [](int bits, int shift) {
    char word[32];
    std::snprintf(word, sizeof word, "0x%08x", static_cast<unsigned>(bits) << shift);
    return std::string(word);
  };
  const auto open = [](const std::string& type, const std::string& set) {
    return "<object type=\"" + type + "\" os_index=\"0\" cpuset=\"" + set +
           "\" complete_cpuset=\"0xffffffff\">";
  };
  for (int s = 0; s < 2; ++s) {
    text += open("Package", hex(0xff, 8 * s));
    for (int n = 0; n < 2; ++n) {
      const int base = 8 * s + 4 * n;
      text += open("NUMANode", hex(0xf, base)) + "</object>" + open("L3Cache", hex(0xf, base));
      for (int c = 0; c < 2; ++c) {
        text += open("L2Cache", hex(3, base + 2 * c)) + open("Core", hex(3, base + 2 * c));
        for (int t = 0; t < 2; ++t) text += open("PU", hex(1, base + 2 * c + t)) + "</object>";
        text += "</object></object>";
      }
      text += "</object>\n";
    }
    text += "</object>\n";
  }
  return text + "</object></topology>\n";
}

std::string shape_of(const NodeTopology& node) {
  std::string text;
  for (const auto& level : node.levels)
    text += level.name + ":" + std::to_string(level.units.size()) + " ";
  return text;
}

}  // namespace

CASE("hwloc's XML gives the levels by nesting, without the L2 caches that repeat the cores") {
  const auto node = parse_hwloc_xml(xml_of_two_sockets(), "test");
  EXPECT_EQ(shape_of(node), "pack:2 numa:4 l3:4 core:8 pu:16 ");
  const auto topology = topology_of(node, 3);
  EXPECT_EQ(
      topology.levels, (std::vector<std::string>{"node", "pack", "numa", "l3", "core", "pu"}));
  EXPECT_EQ(topology.units, parse_topology("node:1 pack:2 numa:2 l3:1 core:2 pu:2").units);
  EXPECT_EQ(node.levels[3].units[3], (CpuSet{6, 7}));
}

CASE("XML that is cut off, empty or something else is refused") {
  EXPECT_ERROR(Error, "not a topology of hwloc", parse_hwloc_xml("<html/>", "x"));
  EXPECT_ERROR(Error, "cut off", parse_hwloc_xml("<topology><object type=\"PU\" cpu", "x"));
  EXPECT_ERROR(Error, "no processor", parse_hwloc_xml("<topology></topology>", "x"));
  EXPECT_ERROR(Error, "cannot read", read_hwloc_xml("/nonexistent/x.xml"));
}

CASE("ranks are sorted by the units that they are bound to, equal ones keep their order") {
  const auto node = parse_hwloc_xml(xml_of_two_sockets(), "test");
  const std::vector<CpuSet> bindings{{14}, {0, 1}, {8}, {2, 3}, {15}};
  const int levels = usable_levels(node, bindings);
  EXPECT_EQ(levels, 4);  // {0, 1} is a core with two hardware threads
  const auto sorted = sort_ranks(node, bindings, levels);
  EXPECT_EQ(sorted.order, (std::vector<int>{1, 3, 2, 0, 4}));
  EXPECT_EQ(sorted.shape.starts[0], (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(sorted.shape.starts[1], (std::vector<int>{0, 2, 2, 3, 5}));
}

CASE("unbound ranks leave only the levels that hold them whole") {
  const auto node = parse_hwloc_xml(xml_of_two_sockets(), "test");
  CpuSet all, socket;
  for (int cpu = 0; cpu < 16; ++cpu) all.push_back(cpu);
  for (int cpu = 8; cpu < 16; ++cpu) socket.push_back(cpu);
  EXPECT_EQ(usable_levels(node, {all, {3}}), 0);
  EXPECT_EQ(usable_levels(node, {socket, {3}}), 1);
  const auto sorted = sort_ranks(node, {all, all}, 0);
  EXPECT_EQ(sorted.order, (std::vector<int>{0, 1}));
  EXPECT_TRUE(sorted.shape.starts.empty());
}

CASE("a node whose parts are unequal still takes ranks") {
  NodeTopology node{
      {{"pack", {{0, 1, 2, 3}, {4, 5}}}, {"core", {{0}, {1}, {2}, {3}, {4}, {5}}}}, "test"};
  const auto machine = make_machine(topology_of(node, 2), {6, 3});
  EXPECT_EQ(machine.shape(0).starts[0], (std::vector<int>{0, 4, 6}));
  EXPECT_EQ(machine.shape(1).starts[0], (std::vector<int>{0, 2, 3}));
}

CASE("this machine is described by /sys") {
  EXPECT_EQ(read_sysfs().source, "linux sysfs");
  EXPECT_FALSE(read_sysfs().levels.empty());
  EXPECT_TRUE(read_sysfs("/nonexistent").levels.empty());
}

CASE("/sys is read as Linux writes it") {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / ("phl-sysfs-" + std::to_string(::getpid()));
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto at = "system/cpu/cpu" + std::to_string(cpu);
    const int core = cpu % 4;  // threads 0 and 4 share a core
    write(at + "/topology/thread_siblings_list",
        std::to_string(core) + "," + std::to_string(core + 4));
    write(at + "/topology/core_siblings_list", core < 2 ? "0-1,4-5" : "2-3,6-7");
    write(at + "/cache/index3/level", "3");
    write(at + "/cache/index3/type", "Unified");
    write(at + "/cache/index3/shared_cpu_list", core < 2 ? "0-1,4-5" : "2-3,6-7");
  }
  write("system/node/node0/cpulist", "0-7");
  const auto node = read_sysfs(root.string());
  fs::remove_all(root);
  EXPECT_EQ(shape_of(node), "numa:1 pack:2 l3:2 core:4 pu:8 ");
  EXPECT_EQ(node.levels[3].units[1], (CpuSet{1, 5}));
}

CASE("lists of processors are read") {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (CpuSet{0, 1, 2, 3, 8}));
}
