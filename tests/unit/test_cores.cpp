#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/cases.hpp"

#include "core/resources.hpp"

namespace {

std::size_t kernel_has_bytes = 0;  // of a simulated machine; 0: the real one

}  // namespace

// Replaces the C library's function.
extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* mask) noexcept {
  if (kernel_has_bytes == 0) {
    const long copied = syscall(SYS_sched_getaffinity, process, bytes, mask);
    if (copied < 0) return -1;
    std::memset(
        reinterpret_cast<char*>(mask) + copied, 0, bytes - static_cast<std::size_t>(copied));
    return 0;
  }
  if (bytes < kernel_has_bytes) {
    errno = EINVAL;
    return -1;
  }
  std::memset(mask, 0, bytes);
  reinterpret_cast<unsigned char*>(mask)[kernel_has_bytes - 1] = 0x81;
  return 0;
}

CASE("cores of a machine that has more than cpu_set_t holds are found") {
  EXPECT_GT(parhelion::usable_threads().size(), 0);
  kernel_has_bytes = 1000;  // 8,000 cores
  const auto cores = parhelion::usable_threads();
  kernel_has_bytes = 0;
  ASSERT_GE(cores.size() * 8, 1000);
  EXPECT_EQ(cores[124], 0x8100000000000000u);
}

CASE("a machine that does not tell its cores is an error, not one without cores") {
  kernel_has_bytes = std::size_t{1} << 40;
  EXPECT_ERROR(std::exception, "sched_getaffinity", parhelion::usable_threads());
  kernel_has_bytes = 0;
}

namespace {

// Simulated /proc and /sys, equal to those of tests/python/launch/test_cores.py.
class System {
 public:
  System()
      : root_(
            std::filesystem::temp_directory_path() / ("usable_cores-" + std::to_string(getpid()))) {
    for (int thread = 0; thread < 8; ++thread)  // 0 and 4, 1 and 5, … share a core
      write("sys/devices/system/cpu/cpu" + std::to_string(thread) + "/topology/core_cpus_list",
          std::to_string(thread % 4) + "," + std::to_string(thread % 4 + 4) + "\n");
  }
  ~System() { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::string path() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

int cores(std::uint64_t threads, const System& system) {
  return parhelion::cores_at_once({threads, 0}, system.path());
}
int processes(std::uint64_t threads, const System& system) {
  return parhelion::processes_at_once({threads, 0}, system.path());
}

}  // namespace

CASE("hardware threads of one core are one core, on which two processes run at once") {
  const System system;
  EXPECT_EQ(cores(0xFF, system), 4);
  EXPECT_EQ(processes(0xFF, system), 8);
  EXPECT_EQ(cores(0x11, system), 1);
  EXPECT_EQ(cores(0x300, system), 2);  // threads without topology information
  EXPECT_EQ(cores(0, system), 1);
}

CASE(
    "ranks are placed core by core: the second thread of a core comes after the first of every "
    "other") {
  const System system;  // threads 0 and 4, 1 and 5, … share a core
  EXPECT_EQ(parhelion::core_by_core({0xFF, 0}, system.path()),
      (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(parhelion::core_by_core({0x33, 0}, system.path()), (std::vector<int>{0, 1, 4, 5}));
  for (int thread = 0; thread < 8; ++thread)  // 0 and 1, 2 and 3, … share a core
    system.write("sys/devices/system/cpu/cpu" + std::to_string(thread) + "/topology/core_cpus_list",
        std::to_string(thread / 2 * 2) + "-" + std::to_string(thread / 2 * 2 + 1) + "\n");
  EXPECT_EQ(parhelion::core_by_core({0xFF, 0}, system.path()),
      (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(parhelion::core_by_core({0, 3}, system.path()),
      (std::vector<int>{64, 65}));  // no topology information
}

CASE("what the control groups grant limits the cores: the least of one's own group and all above") {
  const System system;
  system.write("proc/self/cgroup", "0::/slurm/job/step\n");
  EXPECT_EQ(cores(0xFF, system), 4);
  system.write("sys/fs/cgroup/slurm/job/cpu.max", "150000 100000\n");
  system.write("sys/fs/cgroup/slurm/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/slurm/job/step/cpu.max", "300000 100000\n");
  EXPECT_EQ(cores(0xFF, system), 2);
  EXPECT_EQ(processes(0xFF, system), 2);
  system.write("sys/fs/cgroup/other/cpu.max", "10000 100000\n");
  EXPECT_EQ(cores(0xFF, system), 2);
  system.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(0xFF, system), 1);
}

CASE("control groups of version 1 limit the cores, too, by their controller cpu alone") {
  const System system;
  system.write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/docker/a\n0::/\n");
  system.write("sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "1\n");
  system.write("sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "100000\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(0xFF, system), 4);
  system.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cores(0xFF, system), 3);
}
