// Simulated time of a rank's copies (PARHELION_SIMULATED_COPY, seconds per byte; not executed if
// arrays share memory) and messages (PARHELION_SIMULATED_OVERHEAD, seconds for each at both ends).
//
// The linker replaces (--wrap) the one function through which all of the library's copies go.
#include <mpi.h>
#include <simgrid/actor.h>

#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "parhelion/plan/program.hpp"

void* received_into(void* buffer, std::size_t bytes);  // memory.cpp

namespace parhelion {

void really_run(const Program&, Bases, Bases) asm(
    "__real__ZN9parhelion3runERKNS_7ProgramEPKPSt4byteS6_");
void timed_run(const Program&, Bases, Bases) asm(
    "__wrap__ZN9parhelion3runERKNS_7ProgramEPKPSt4byteS6_");

}  // namespace parhelion

namespace {

double number_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atof(text);
}

// Accumulates short sleeps, because SimGrid rounds each up to its precision.
void take(double seconds) {
  static const double shortest = number_of("PARHELION_SIMULATED_POLL");
  static std::unordered_map<aid_t, double> owed;
  double& mine = owed[sg_actor_self_get_pid()];
  mine += seconds;
  if (mine < shortest) return;
  seconds = mine;
  mine = 0;
  sg_actor_sleep_for(seconds);
}

double per_message() {
  static const double overhead = number_of("PARHELION_SIMULATED_OVERHEAD");
  return overhead;
}

}  // namespace

void parhelion::timed_run(const Program& program, Bases src, Bases dst) {
  static const double per_byte = number_of("PARHELION_SIMULATED_COPY");
  static const bool made = std::getenv("PARHELION_FOLD") != nullptr &&
                           std::strcmp(std::getenv("PARHELION_FOLD"), "0") == 0;
  take(per_byte * static_cast<double>(program.bytes()));
  if (made) really_run(program, src, dst);
}

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int target, int tag,
    MPI_Comm comm, MPI_Request* request) {
  take(per_message());
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}

// May discard the values: set-up messages, whose values matter, use other receive calls.
extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag,
    MPI_Comm comm, MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  take(per_message());
  return PMPI_Irecv(
      received_into(buffer, static_cast<std::size_t>(size) * static_cast<std::size_t>(count)),
      count, type, source, tag, comm, request);
}
