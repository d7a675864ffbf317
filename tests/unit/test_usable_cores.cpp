#include <doctest/doctest.h>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/usable_cores.hpp"

namespace {

std::size_t kernel_has_bytes = 0;  // of a pretended machine; 0: the real one

}  // namespace

// In place of the C library's.
extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* mask) noexcept {
    if (kernel_has_bytes == 0) {
        const long copied = syscall(SYS_sched_getaffinity, process, bytes, mask);
        if (copied < 0) return -1;
        std::memset(reinterpret_cast<char*>(mask) + copied, 0, bytes - static_cast<std::size_t>(copied));
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

TEST_CASE("cores of a machine that has more than cpu_set_t holds are found") {
    CHECK_GT(parhelion::usable_cores().size(), 0);
    kernel_has_bytes = 1000;  // 8,000 cores
    const auto cores = parhelion::usable_cores();
    kernel_has_bytes = 0;
    REQUIRE_GE(cores.size() * 8, 1000);
    CHECK_EQ(cores[124], 0x8100000000000000u);
}

TEST_CASE("a machine that does not tell its cores is an error, not one without cores") {
    kernel_has_bytes = std::size_t{1} << 40;
    CHECK_THROWS_WITH(parhelion::usable_cores(), doctest::Contains("sched_getaffinity"));
    kernel_has_bytes = 0;
}
