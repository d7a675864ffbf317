#include <sched.h>

#include <charconv>
#include <sstream>

#include "parhelion/placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

constexpr int most_cpus = 1 << 16;

}  // namespace

CpuSet parse_cpu_list(const std::string& text) {
    CpuSet cpus;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');) {
        int first = 0, last = 0;
        const char* end = item.data() + item.size();
        const auto begin = std::from_chars(item.data(), end, first);
        if (begin.ec != std::errc{}) continue;
        last = first;
        if (begin.ptr != end && *begin.ptr == '-') std::from_chars(begin.ptr + 1, end, last);
        for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

std::string to_string(const CpuSet& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t j = i;
        while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1) ++j;
        text.append(text.empty() ? "" : ",").append(std::to_string(cpus[i]));
        if (j > i) text.append("-").append(std::to_string(cpus[j]));
        i = j + 1;
    }
    return text;
}

CpuSet current_binding() {
    CpuSet cpus;
    cpu_set_t* set = CPU_ALLOC(most_cpus);
    if (set == nullptr) return cpus;
    const std::size_t size = CPU_ALLOC_SIZE(most_cpus);
    CPU_ZERO_S(size, set);
    if (sched_getaffinity(0, size, set) == 0)
        for (int cpu = 0; cpu < most_cpus; ++cpu)
            if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    return cpus;
}

}  // namespace parhelion::placement
