#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "parhelion/placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Entries of a directory named prefix + number, by number.
std::map<int, fs::path> numbered(const fs::path& directory, const std::string& prefix) {
    std::map<int, fs::path> found;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(directory, problem)) {
        const auto name = entry.path().filename().string();
        const auto digits = name.substr(std::min(prefix.size(), name.size()));
        if (name.starts_with(prefix) && !digits.empty() && std::ranges::all_of(digits, ::isdigit))
            found.emplace(std::stoi(digits), entry.path());
    }
    return found;
}

// Every cpu says which cpus share something with it; equal answers are one unit.
class Units {
public:
    void add(const std::string& list) {
        CpuSet cpus = parse_cpu_list(list);
        if (!cpus.empty() && seen_.insert(cpus).second) units_.push_back(std::move(cpus));
    }
    std::vector<CpuSet> take() { return std::move(units_); }

private:
    std::set<CpuSet> seen_;
    std::vector<CpuSet> units_;
};

std::string cache_list(const fs::path& cpu, const std::string& level) {
    for (const auto& [number, cache] : numbered(cpu / "cache", "index"))
        if (first_line(cache / "level") == level && first_line(cache / "type") != "Instruction")
            return first_line(cache / "shared_cpu_list");
    return "";
}

}  // namespace

NodeTopology read_sysfs(const std::string& root) {
    Units packages, numa, l3, l2, cores, threads;
    for (const auto& [number, cpu] : numbered(fs::path(root) / "system/cpu", "cpu")) {
        const auto core = first_line(cpu / "topology/thread_siblings_list");
        if (core.empty()) continue;  // offline
        packages.add(first_line(cpu / "topology/core_siblings_list"));
        l3.add(cache_list(cpu, "3"));
        l2.add(cache_list(cpu, "2"));
        cores.add(core);
        threads.add(std::to_string(number));
    }
    for (const auto& [number, node] : numbered(fs::path(root) / "system/node", "node")) numa.add(first_line(node / "cpulist"));
    NodeTopology topology{{{"pack", packages.take()},
                           {"numa", numa.take()},
                           {"l3", l3.take()},
                           {"l2", l2.take()},
                           {"core", cores.take()},
                           {"pu", threads.take()}},
                          "linux sysfs",
                          ""};
    return nested(std::move(topology));
}

}  // namespace parhelion::placement
