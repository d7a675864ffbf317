#include "core/usable_cores.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "parhelion/core/error.hpp"

namespace parhelion {

// The kernel refuses a mask that is shorter than its own; cpu_set_t has 1,024 bits.
std::vector<std::uint64_t> usable_cores() {
    constexpr std::size_t most_words = std::size_t{1} << 14;
    for (std::size_t words = sizeof(cpu_set_t) / sizeof(std::uint64_t);; words *= 2) {
        std::vector<std::uint64_t> mask(words, 0);
        if (sched_getaffinity(0, words * sizeof(std::uint64_t), reinterpret_cast<cpu_set_t*>(mask.data())) == 0) return mask;
        if (errno != EINVAL || words >= most_words)
            throw Error(std::string("the system does not tell which cores this process may run on (sched_getaffinity: ") +
                        std::strerror(errno) + "): allow that call, or name a transport that works without it, as mpi_persistent",
                        ErrorKind::system);
    }
}

}  // namespace parhelion
