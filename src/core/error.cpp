#include "parhelion/core/error.hpp"

namespace parhelion {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      std::string(call) + " failed: " + std::string(text, length) +
          ". Other ranks may be waiting: end the job (MPI_Abort) unless the MPI can continue",
      ErrorKind::communication);
}

}  // namespace parhelion
