// C++ side of the Fortran module mpi_calls, a substitute for the Fortran module of MPI.
#include <mpi.h>

#include <algorithm>
#include <array>

namespace {

int rank_or_nobody(int rank) { return rank < 0 ? MPI_PROC_NULL : rank; }

}  // namespace

extern "C" {

void phl_app_init(MPI_Fint* comm, int* rank, int* ranks) {
  MPI_Init(nullptr, nullptr);
  *comm = MPI_Comm_c2f(MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
}

void phl_app_finalize() { MPI_Finalize(); }

int phl_app_all(int here, MPI_Fint comm) {
  MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, MPI_Comm_f2c(comm));
  return here;
}

void phl_app_isend(
    const double* values, int count, int to, int tag, MPI_Fint comm, MPI_Fint* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  MPI_Isend(values, count, MPI_DOUBLE, to, tag, MPI_Comm_f2c(comm), &made);
  *request = MPI_Request_c2f(made);
}

void phl_app_irecv(double* values, int count, int from, int tag, MPI_Fint comm, MPI_Fint* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  MPI_Irecv(values, count, MPI_DOUBLE, from, tag, MPI_Comm_f2c(comm), &made);
  *request = MPI_Request_c2f(made);
}

void phl_app_waitall(int count, MPI_Fint* requests) {
  std::array<MPI_Request, 16> all{};
  for (int first = 0; first < count; first += static_cast<int>(all.size())) {
    const int some = std::min(count - first, static_cast<int>(all.size()));
    std::transform(requests + first, requests + first + some, all.begin(),
        [](MPI_Fint each) { return MPI_Request_f2c(each); });
    MPI_Waitall(some, all.data(), MPI_STATUSES_IGNORE);
  }
}

void phl_app_sendrecv(const double* sent, int send_count, int to, double* received,
    int receive_count, int from, int tag, MPI_Fint comm) {
  MPI_Sendrecv(sent, send_count, MPI_DOUBLE, rank_or_nobody(to), tag, received, receive_count,
      MPI_DOUBLE, rank_or_nobody(from), tag, MPI_Comm_f2c(comm), MPI_STATUS_IGNORE);
}
}
