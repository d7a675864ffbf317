#pragma once

#include <mpi.h>

#include <vector>

namespace applications {

/// Reproducible sums over ranks: adds the values in rank order.
class Sums {
 public:
  explicit Sums(MPI_Comm comm) : comm_(comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    parts_.resize(static_cast<std::size_t>(ranks));
  }

  double over_ranks(double mine) {
    MPI_Allgather(&mine, 1, MPI_DOUBLE, parts_.data(), 1, MPI_DOUBLE, comm_);
    double sum = 0;
    for (double part : parts_) sum += part;
    return sum;
  }

 private:
  MPI_Comm comm_;
  std::vector<double> parts_;
};

}  // namespace applications
