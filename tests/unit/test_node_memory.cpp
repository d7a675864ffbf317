// Node-shared memory.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/resources.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/node_memory.hpp"
#include "support/cases.hpp"

using namespace parhelion;

namespace {

constexpr byte_count mib = 1 << 20;

template <class T>
using NodeVector = std::vector<T, NodeAllocator<T>>;

std::string refusal(byte_count bytes) {
  try {
    allocate_node_shared(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

byte_count total_memory() {
  return static_cast<byte_count>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::set<std::string> mapped_files() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto path = line.find('/'); path != std::string::npos)
      files.insert(line.substr(path));
  return files;
}

// Runs `body` in a forked process; returns its result.
template <class Body>
bool in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

CASE("memory is zeroed, aligned to 64, and belongs to the last copy of its pointer") {
  std::weak_ptr<std::byte> watched;
  for (byte_count bytes : {byte_count{0}, byte_count{1}, byte_count{4096}, 3 * mib + 5}) {
    const auto memory = allocate_node_shared(bytes);
    watched = memory;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0);
    EXPECT_EQ(std::accumulate(memory.get(), memory.get() + bytes, 0,
                  [](int sum, std::byte b) { return sum + int(b); }),
        0);
    std::memset(memory.get(), 1, static_cast<std::size_t>(bytes));
  }
  EXPECT_TRUE(watched.expired());
}

CASE("an address in the middle is found with its offset, one beside it is not") {
  const auto memory = allocate_node_shared(1000);
  const auto first = find_node_shared(memory.get()), later = find_node_shared(memory.get() + 999);
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->offset, first->offset + 999);
  EXPECT_EQ(later->identity, first->identity);
  EXPECT_LE(first->offset + 1000, first->size);
  int local = 0;
  EXPECT_FALSE(find_node_shared(&local).has_value());
  EXPECT_FALSE(find_node_shared(nullptr).has_value());
}

CASE("what was found stays mapped after its owner let go of it") {
  auto memory = allocate_node_shared(100);
  std::byte* const first = memory.get();
  auto place = find_node_shared(first);
  memory.reset();
  *first = std::byte{7};
  EXPECT_TRUE(find_node_shared(first).has_value());
  place.reset();
  EXPECT_FALSE(find_node_shared(first).has_value());
}

CASE(
    "only the owner may open the memory, its size is fixed, and no file system has a name for it") {
  const auto before = mapped_files();
  const auto memory = allocate_node_shared(mib);
  const NodeVector<double> numbers(1000);
  const int descriptor = find_node_shared(memory.get())->descriptor;
  struct stat status{};
  ASSERT_EQ(fstat(descriptor, &status), 0);
  EXPECT_TRUE((status.st_mode & 0777) == 0600);
  EXPECT_EQ(status.st_nlink, 0);
  EXPECT_EQ(status.st_uid, geteuid());
  EXPECT_NE(ftruncate(descriptor, 0), 0);
  EXPECT_TRUE((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
  for (const std::string& file : mapped_files()) {
    CAPTURE(file);
    EXPECT_TRUE((before.contains(file) || file == "/memfd:parhelion (deleted)"));
  }
}

CASE("sizes that are too large, or none, are refused with the size, a reason and a remedy") {
  for (byte_count bytes : {byte_count{1} << 50, 2 * total_memory(), byte_count{1} << 62,
           std::numeric_limits<byte_count>::max()}) {
    const std::string text = refusal(bytes);
    CAPTURE(text);
    EXPECT_TRUE(holds(text, std::to_string(bytes).c_str()));
    EXPECT_TRUE(holds(text, "available"));
    EXPECT_TRUE(holds(text, "use more nodes"));
  }
  EXPECT_TRUE(holds(refusal(-1), "sizes are 0 or more"));
  EXPECT_THROW(static_cast<void>(NodeVector<double>(std::size_t{1} << 60)), std::length_error);
  EXPECT_THROW(static_cast<void>(NodeAllocator<double>().allocate(std::size_t{1} << 61)),
      std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(NodeAllocator<double>().allocate(std::size_t{1} << 47)), Error);
  EXPECT_TRUE(refusal(mib).empty());
}

CASE("what is available is something, and no more than there is") {
  EXPECT_GT(available_memory(), 0);
  if (std::ifstream("/proc/meminfo").good())
    EXPECT_LT(available_memory(), 64 * total_memory());  // swap may be larger
}

CASE("what a control group around the process's own one has left is all that is available") {
  namespace fs = std::filesystem;
  const fs::path system =
      fs::temp_directory_path() / ("available_memory-" + std::to_string(getpid()));
  const auto write = [&](const fs::path& file, const std::string& text) {
    fs::create_directories((system / file).parent_path());
    std::ofstream(system / file) << text << "\n";
  };
  write("proc/meminfo", "MemAvailable: 1000000 kB");
  EXPECT_EQ(available_memory(system), 1024000000);
  write("proc/self/cgroup", "0::/job/step/task");
  write("sys/fs/cgroup/job/memory.max", "5000000");
  write("sys/fs/cgroup/job/memory.current", "2000000");
  write("sys/fs/cgroup/job/memory.stat", "anon 7\nactive_file 100\ninactive_file 11");
  EXPECT_EQ(available_memory(system), 3000111);
  write("sys/fs/cgroup/job/step/task/memory.max", "max");
  EXPECT_EQ(available_memory(system), 3000111);
  write("sys/fs/cgroup/job/step/memory.max", "900");
  write("sys/fs/cgroup/job/step/memory.current", "200");
  EXPECT_EQ(available_memory(system), 700);
  write("proc/self/cgroup", "4:memory:/a/b\n3:cpu:/c");
  EXPECT_EQ(available_memory(system), 1024000000);
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "500");
  write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "100");
  EXPECT_EQ(available_memory(system), 400);
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/memory/a/memory.stat", "total_active_file 90000");
  EXPECT_EQ(available_memory(system), 1024000000);
  fs::remove_all(system);
}

void allow_descriptors(rlim_t most) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = most;
  setrlimit(RLIMIT_NOFILE, &limit);
}

CASE("thousands of small arrays need few descriptors, and each is its own") {
  EXPECT_TRUE(in_child([] {
    allow_descriptors(256);
    std::vector<std::shared_ptr<std::byte>> all;
    std::set<std::pair<std::uint64_t, byte_count>> places;
    for (int i = 0; i < 2000; ++i) {
      const byte_count bytes = 1 + (i % 40) * 1600;
      all.push_back(allocate_node_shared(bytes));
      if (*std::max_element(all.back().get(), all.back().get() + bytes) != std::byte{})
        return false;
      std::memset(all.back().get(), i % 100, static_cast<std::size_t>(bytes));
      const auto place = find_node_shared(all.back().get() + bytes - 1);
      places.insert({place->identity, place->offset});
    }
    for (int i = 0; i < 2000; ++i)
      if (*all[static_cast<std::size_t>(i)] != std::byte(i % 100)) return false;
    return places.size() == 2000;
  }));
}

CASE("running out of descriptors is an error that says so, and leaves nothing behind") {
  EXPECT_TRUE(in_child([] {
    allow_descriptors(100);
    std::vector<std::shared_ptr<std::byte>> all;
    try {
      for (int i = 0; i < 100; ++i) all.push_back(allocate_node_shared(mib));
    } catch (const Error& error) {
      const bool told = holds(error.what(), "ulimit -n") && error.kind() == ErrorKind::system;
      all.clear();
      return told && allocate_node_shared(mib) != nullptr;
    }
    return false;
  }));
}

CASE(
    "a container that got no memory can have it later, whatever the number of free descriptors "
    "was") {
  for (rlim_t spare = 0; spare < 8; ++spare) {
    CAPTURE(spare);
    EXPECT_TRUE(in_child([spare] {
      const NodeVector<int> before(100, 1);  // a pool in use, without space of the next size
      const int lowest = dup(0);
      rlimit limit{};
      getrlimit(RLIMIT_NOFILE, &limit);
      const rlimit low{static_cast<rlim_t>(lowest) + spare, limit.rlim_max};
      setrlimit(RLIMIT_NOFILE, &low);
      close(lowest);
      int refused = 0;
      for (std::size_t count : {10, 1000, 100'000, 3000, 10'000, 200'000})
        for (int i = 0; i < 100; ++i) try {
            new NodeVector<int>(count, 2);
          } catch (const Error&) {
            ++refused;
          }
      setrlimit(RLIMIT_NOFILE, &limit);
      const NodeVector<int> after(100'000, 3);
      return refused > 0 && before == NodeVector<int>(100, 1) && after.back() == 3;
    }));
  }
}

CASE("containers of many sizes, and of several threads, take few descriptors") {
  EXPECT_TRUE(in_child([] {
    const int before = dup(0);
    std::vector<NodeVector<char>> all;
    const auto fill = [&all] {
      for (std::size_t size = 1; size < 8192; size += size / 2 + 1) all.emplace_back(size, 'x');
    };
    fill();
    std::thread(fill).join();
    return dup(0) - before <= 3;
  }));
}

CASE("a timer's signals do not keep memory from being taken") {
  struct sigaction ignore{}, before{};
  ignore.sa_handler = [](int) {};  // without SA_RESTART: interrupts system calls
  sigaction(SIGALRM, &ignore, &before);
  const itimerval often{{0, 500}, {0, 500}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  const std::string text = refusal(200 * mib);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(text, "");
}

CASE("a container's small vectors share a mapping, and freed blocks are used again") {
  const NodeVector<int> a(10, 1), b(10, 2);
  EXPECT_EQ(find_node_shared(a.data())->identity, find_node_shared(b.data())->identity);
  NodeAllocator<int> allocator;
  int* const first = allocator.allocate(100);
  allocator.deallocate(first, 100);
  int* const again = allocator.allocate(100);
  EXPECT_EQ(first, again);
  allocator.deallocate(again, 100);
}

CASE("containers get what their elements' alignment asks for, large ones too") {
  struct alignas(128) Wide {
    double values[16];
  };
  struct alignas(8192) Page {
    char bytes[8192];
  };
  for (std::size_t count : {1, 3, 100, 5000}) {
    const NodeVector<Wide> wide(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.data()) % 128, 0);
    EXPECT_TRUE(find_node_shared(&wide.back()).has_value());
  }
  const NodeVector<Page> pages(20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % 8192, 0);
}

CASE("threads allocate, look up and free at the same time") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 300; ++i) {
        const NodeVector<int> small(static_cast<std::size_t>(1 + (i * 37) % 5000), t);
        const auto large = allocate_node_shared(4096 * (1 + i % 5));
        for (int value : small) wrong += value != t;
        wrong += !find_node_shared(small.data()) + !find_node_shared(large.get());
        find_node_shared(
            large.get() + 64 * 4096);  // possibly memory that another thread is freeing
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

CASE(
    "a forked process shares arrays with its parent, and neither takes from its pool nor gives "
    "back to it") {
  const auto array = allocate_node_shared(64);
  auto* vector = new NodeVector<int>(100, 1);
  int* const inherited = vector->data();
  EXPECT_TRUE(in_child([&] {
    array.get()[0] = std::byte{5};
    delete vector;                // must not free the parent's block
    NodeVector<int> own(100, 2);  // must not be the parent's memory
    const bool fine = own.data() != inherited && find_node_shared(own.data()).has_value();
    std::fill(own.begin(), own.end(), 3);
    own.clear();
    own.shrink_to_fit();
    return fine && NodeVector<int>(100, 4).size() == 100;
  }));
  EXPECT_EQ(array.get()[0], std::byte{5});
  EXPECT_EQ(*vector, NodeVector<int>(100, 1));
  const NodeVector<int> next(100, 6);
  EXPECT_NE(next.data(), inherited);
  EXPECT_EQ(*vector, NodeVector<int>(100, 1));
  delete vector;
}

CASE("asking for huge pages does no harm where the kernel has none for shared memory") {
  const auto memory = allocate_node_shared(8 * mib);
  std::memset(memory.get(), 3, 8 * mib);
  EXPECT_EQ(memory.get()[8 * mib - 1], std::byte{3});
}
