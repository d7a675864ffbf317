#include "parhelion/core/totals.hpp"

#include "core/patient_wait.hpp"

namespace parhelion {
namespace {

std::vector<std::int64_t> reduced(const Communicator& comm, const std::vector<std::int64_t>& values,
                                  MPI_Op operation) {
    std::vector<std::int64_t> all(values.size());
    allreduce(comm, values.data(), all.data(), static_cast<int>(values.size()), MPI_INT64_T,
              operation);
    return all;
}

}  // namespace

std::vector<std::int64_t> total(const Communicator& comm, const std::vector<std::int64_t>& values) {
    return reduced(comm, values, MPI_SUM);
}
std::vector<std::int64_t> largest(const Communicator& comm,
                                  const std::vector<std::int64_t>& values) {
    return reduced(comm, values, MPI_MAX);
}

}  // namespace parhelion
