#include "core/resources.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

#include "core/concat.hpp"

namespace parhelion {

namespace {

// Not by std::filesystem, whose paths break where memory runs out (libstdc++ 12).
std::string within(const std::string& folder, std::string_view name) {
  return concat(folder, "/", name);
}

bool names(const std::string& controllers, std::string_view controller) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == controller) return true;
  return controllers.empty();  // version 2
}

// Folders of this process's group and its ancestors for `controller` ("cpu", "memory"), versions 1
// and 2. In containers, the own group is often the root.
std::vector<std::string> control_groups(std::string_view controller, const std::string& system) {
  std::vector<std::string> folders;
  std::ifstream groups(within(system, "proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!names(controllers, controller)) continue;
    folders.push_back(within(system, "sys/fs/cgroup"));
    if (!controllers.empty()) folders.back() = within(folders.back(), controllers);
    std::istringstream own(line.substr(second + 1));
    for (std::string part; std::getline(own, part, '/');)
      if (!part.empty() && part != "." && part != "..")
        folders.push_back(within(folders.back(), part));
  }
  return folders;
}

// Empty if unreadable.
std::string line_of(const std::string& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

// In processors; infinite when `quota` is "max" or -1.
double share(const std::string& quota, const std::string& period) {
  const double time = std::strtod(quota.c_str(), nullptr),
               of = std::strtod(period.c_str(), nullptr);
  return time > 0 && of > 0 ? time / of : HUGE_VAL;
}

double limit_of(const std::string& folder) {
  std::istringstream second(line_of(within(folder, "cpu.max")));
  std::string quota, period;
  second >> quota >> period;
  return std::min(share(quota, period), share(line_of(within(folder, "cpu.cfs_quota_us")),
                                            line_of(within(folder, "cpu.cfs_period_us"))));
}

double processors_granted(const std::string& system) {
  double least = HUGE_VAL;
  for (const std::string& group : control_groups("cpu", system))
    least = std::min(least, limit_of(group));
  return least;
}

int at_least_one(double count, const std::string& system) {
  return static_cast<int>(std::max(1.0, std::min(count, std::ceil(processors_granted(system)))));
}

// A thread's core; its number when the system names no siblings.
std::string core_of(std::size_t thread, const std::string& system) {
  const std::string folder =
      within(system, concat("sys/devices/system/cpu/cpu", thread, "/topology"));
  for (const char* name : {"core_cpus_list", "thread_siblings_list"})
    if (const std::string siblings = line_of(within(folder, name)); !siblings.empty())
      return siblings;
  return std::to_string(thread);
}

}  // namespace

// The kernel refuses a mask shorter than its own, which may exceed the 1,024 bits of cpu_set_t.
CpuMask usable_threads() {
  constexpr std::size_t most_words = std::size_t{1} << 14;
  for (std::size_t words = sizeof(cpu_set_t) / sizeof(std::uint64_t);; words *= 2) {
    CpuMask mask(words, 0);
    if (sched_getaffinity(
            0, words * sizeof(std::uint64_t), reinterpret_cast<cpu_set_t*>(mask.data())) == 0)
      return mask;
    if (errno != EINVAL || words >= most_words)
      throw Error(std::string("the system does not report the cores that this process may use "
                              "(sched_getaffinity: ") +
                      std::strerror(errno) +
                      "): allow that call, or name a transport that works without it, such as mpi",
          ErrorKind::system);
  }
}

namespace {

// (earlier threads of its core, thread), sorted
std::vector<std::pair<int, int>> threads_of_cores(
    const CpuMask& threads, const std::string& system) {
  std::map<std::string, int> taken;
  std::vector<std::pair<int, int>> found;
  for (std::size_t thread = 0; thread < 64 * threads.size(); ++thread)
    if (threads[thread / 64] >> (thread % 64) & 1)
      found.emplace_back(taken[core_of(thread, system)]++, thread);
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<int> core_by_core(const CpuMask& threads, const std::string& system) {
  std::vector<int> order;
  for (const auto& [before, thread] : threads_of_cores(threads, system)) order.push_back(thread);
  return order;
}

int processes_at_once(const CpuMask& threads, const std::string& system) {
  const int count = std::accumulate(threads.begin(), threads.end(), 0,
      [](int sum, std::uint64_t word) { return sum + std::popcount(word); });
  return at_least_one(count, system);
}

int cores_at_once(const CpuMask& threads, const std::string& system) {
  const auto cores =
      std::ranges::count(threads_of_cores(threads, system), 0, &std::pair<int, int>::first);
  return at_least_one(static_cast<double>(cores), system);
}

namespace {

constexpr byte_count unlimited = std::numeric_limits<byte_count>::max();

// Of a line such as "MemAvailable: 123 kB", else `otherwise`.
byte_count value_of(const std::string& file, const std::string& key, byte_count otherwise) {
  std::ifstream in(file);
  for (std::string word; in >> word; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (byte_count value = 0; word == key && in >> value) return value;
  return otherwise;
}

byte_count number_in(const std::string& file, byte_count otherwise) {
  byte_count value = 0;
  return std::ifstream(file) >> value ? value : otherwise;
}

byte_count left_on_node(const std::string& system) {
  const std::string told = within(system, "proc/meminfo");
  const byte_count free_kib = value_of(told, "MemAvailable:", -1);
  return free_kib < 0 ? unlimited : 1024 * (free_kib + value_of(told, "SwapFree:", 0));
}

struct GroupFiles {
  const char *limit, *usage, *prefix;
};

// The kernel reclaims file pages on demand.
byte_count left_in_group(const std::string& group, const GroupFiles& names) {
  const byte_count most = number_in(within(group, names.limit), unlimited);
  if (most > unlimited / 2) return unlimited;  // "no limit" in version 1; sums would overflow
  const std::string stat = within(group, "memory.stat"), word = names.prefix;
  const byte_count files =
      value_of(stat, word + "active_file", 0) + value_of(stat, word + "inactive_file", 0);
  return std::max<byte_count>(0, most - number_in(within(group, names.usage), 0) + files);
}

}  // namespace

byte_count available_memory(const std::string& system) {
  byte_count least = left_on_node(system);
  for (const auto& group : control_groups("memory", system))
    for (const GroupFiles& names : {GroupFiles{"memory.max", "memory.current", ""},
             GroupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}})
      least = std::min(least, left_in_group(group, names));
  return least;
}

}  // namespace parhelion
