#include "parhelion/core/hash.hpp"

#include "core/patient_wait.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

void require_equal(const Communicator& comm, std::uint64_t value, const std::string& message) {
    const std::uint64_t mine[2] = {value, ~value};  // equal everywhere if and only if max(x) = ~max(~x)
    std::uint64_t most[2];
    allreduce(comm, mine, most, 2, MPI_UINT64_T, MPI_MAX);
    if (most[0] != ~most[1]) throw Error(message);
}

}  // namespace parhelion
