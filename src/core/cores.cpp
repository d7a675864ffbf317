#include "core/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "core/concat.hpp"
#include "core/control_groups.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

namespace {

namespace fs = std::filesystem;

// The first line, empty for an unreadable file.
std::string line_of(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

// The quota in processors; infinite when `quota` is "max" or -1.
double share(const std::string& quota, const std::string& period) {
    const double time = std::strtod(quota.c_str(), nullptr),
                 of = std::strtod(period.c_str(), nullptr);
    return time > 0 && of > 0 ? time / of : HUGE_VAL;
}

double limit_of(const fs::path& folder) {
    std::istringstream second(line_of(folder / "cpu.max"));
    std::string quota, period;
    second >> quota >> period;
    return std::min(share(quota, period), share(line_of(folder / "cpu.cfs_quota_us"),
                                                line_of(folder / "cpu.cfs_period_us")));
}

double processors_granted(const fs::path& system) {
    double least = HUGE_VAL;
    for (const fs::path& group : control_groups("cpu", system))
        least = std::min(least, limit_of(group));
    return least;
}

int at_least_one(double count, const fs::path& system) {
    return static_cast<int>(std::max(1.0, std::min(count, std::ceil(processors_granted(system)))));
}

// Key of a thread's core; the thread's number when the system does not name siblings.
std::string core_of(std::size_t thread, const fs::path& system) {
    const fs::path folder = system / "sys/devices/system/cpu" / concat("cpu", thread) / "topology";
    for (const char* name : {"core_cpus_list", "thread_siblings_list"})
        if (const std::string siblings = line_of(folder / name); !siblings.empty()) return siblings;
    return std::to_string(thread);
}

}  // namespace

// The kernel refuses a mask shorter than its own, which may exceed the 1,024 bits of cpu_set_t.
CpuMask usable_threads() {
    constexpr std::size_t most_words = std::size_t{1} << 14;
    for (std::size_t words = sizeof(cpu_set_t) / sizeof(std::uint64_t);; words *= 2) {
        CpuMask mask(words, 0);
        if (sched_getaffinity(0, words * sizeof(std::uint64_t),
                              reinterpret_cast<cpu_set_t*>(mask.data())) == 0)
            return mask;
        if (errno != EINVAL || words >= most_words)
            throw Error(std::string("the system does not tell which cores this process may run on "
                                    "(sched_getaffinity: ") +
                            std::strerror(errno) +
                            "): allow that call, or name a transport that works without it, as mpi",
                        ErrorKind::system);
    }
}

std::vector<int> core_by_core(const CpuMask& threads, const std::string& system) {
    std::map<std::string, int> taken;
    std::vector<std::pair<int, int>> found;  // (earlier threads of its core, thread)
    for (std::size_t thread = 0; thread < 64 * threads.size(); ++thread)
        if (threads[thread / 64] >> (thread % 64) & 1)
            found.emplace_back(taken[core_of(thread, system)]++, static_cast<int>(thread));
    std::sort(found.begin(), found.end());
    std::vector<int> order;
    for (const auto& [before, thread] : found) order.push_back(thread);
    return order;
}

int processes_at_once(const CpuMask& threads, const std::string& system) {
    const int count =
        std::accumulate(threads.begin(), threads.end(), 0,
                        [](int sum, std::uint64_t word) { return sum + std::popcount(word); });
    return at_least_one(count, system);
}

int cores_at_once(const CpuMask& threads, const std::string& system) {
    std::set<std::string> cores;
    for (std::size_t thread = 0; thread < 64 * threads.size(); ++thread)
        if (threads[thread / 64] >> (thread % 64) & 1) cores.insert(core_of(thread, system));
    return at_least_one(static_cast<double>(cores.size()), system);
}

void Patience::wait_slowly() {
#ifdef PARHELION_SIMULATED  // a yield advances simulated time
    sched_yield();
#else
    constexpr std::chrono::milliseconds short_wait{2}, longest_sleep{1};
    const auto now = std::chrono::steady_clock::now();
    if (polls_ == eager_polls + 1) since_ = now;
    const auto waited = now - since_;
    if (waited < short_wait) sched_yield();
    else
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(waited / 20, longest_sleep));
#endif
}

}  // namespace parhelion
