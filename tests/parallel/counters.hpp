// Counts allocations and MPI objects, by replacing operator new, aligned_alloc and MPI functions
// (through PMPI, MPI-4.1 section 15.2). Include it in one file of a program only.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

namespace test {

struct Counters {
  std::atomic<long> allocations{0}, live_allocations{0};
  std::atomic<long> communicators_made{0}, communicators_freed{0};
  std::atomic<long> requests_made{0}, requests_freed{0};  // persistent requests
  std::atomic<long> types_made{0}, types_freed{0};
};
inline Counters counters;

/// Allocations and objects that only construction may create.
inline long set_up_so_far() {
  return counters.allocations + counters.communicators_made + counters.requests_made +
         counters.types_made;
}

struct Left {
  long memory, communicators, requests, types, descriptors, mappings;
  friend bool operator==(const Left&, const Left&) = default;
};

/// Live allocations and MPI objects, and the process's descriptors and mappings.
inline Left left() {
  std::ifstream maps("/proc/self/maps");
  long mappings = 0;
  for (std::string line; std::getline(maps, line);)
    mappings += line.find("memfd:parhelion") != std::string::npos;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return {counters.live_allocations, counters.communicators_made - counters.communicators_freed,
      counters.requests_made - counters.requests_freed, counters.types_made - counters.types_freed,
      static_cast<long>(std::distance(begin(descriptors), end(descriptors))), mappings};
}

inline void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  ++counters.allocations;
  ++counters.live_allocations;
  return memory;
}
inline void uncounted(void* memory) noexcept {
  if (memory != nullptr) --counters.live_allocations;
  std::free(memory);
}

}  // namespace test

void* operator new(std::size_t bytes) { return test::counted(std::malloc(bytes)); }
void* operator new[](std::size_t bytes) { return test::counted(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  return test::counted(std::aligned_alloc(a, (bytes + a - 1) / a * a));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(bytes);
  return memory == nullptr ? nullptr : test::counted(memory);
}
void operator delete(void* memory) noexcept { test::uncounted(memory); }
void operator delete[](void* memory) noexcept { test::uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { test::uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { test::uncounted(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { test::uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  test::uncounted(memory);
}

extern "C" {

#if !defined(PARHELION_SANITIZED)
// Counted separately: MPI libraries may allocate at any time.
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  static const auto real =
      reinterpret_cast<void* (*)(std::size_t, std::size_t)>(dlsym(RTLD_NEXT, "aligned_alloc"));
  ++test::counters.allocations;
  return real(alignment, bytes);
}
#endif

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ++test::counters.communicators_made;
  return PMPI_Comm_dup(comm, made);
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  ++test::counters.communicators_made;
  return PMPI_Comm_idup(comm, made, request);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  ++test::counters.communicators_made;
  return PMPI_Comm_split(comm, color, key, made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  ++test::counters.communicators_made;
  return PMPI_Comm_split_type(comm, type, key, info, made);
}
int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int from[], const int in_weights[],
    int out, const int to[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm* made) {
  ++test::counters.communicators_made;
  return PMPI_Dist_graph_create_adjacent(
      comm, in, from, in_weights, out, to, out_weights, info, reorder, made);
}
int MPI_Comm_free(MPI_Comm* comm) {
  ++test::counters.communicators_freed;
  return PMPI_Comm_free(comm);
}
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int rank, int tag,
    MPI_Comm comm, MPI_Request* made) {
  ++test::counters.requests_made;
  return PMPI_Send_init(buffer, count, type, rank, tag, comm, made);
}
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
    MPI_Request* made) {
  ++test::counters.requests_made;
  return PMPI_Recv_init(buffer, count, type, rank, tag, comm, made);
}
#if MPI_VERSION >= 4
int MPI_Neighbor_alltoallw_init(const void* send, const int send_counts[],
    const MPI_Aint send_places[], const MPI_Datatype send_types[], void* receive,
    const int receive_counts[], const MPI_Aint receive_places[], const MPI_Datatype receive_types[],
    MPI_Comm comm, MPI_Info info, MPI_Request* made) {
  ++test::counters.requests_made;
  return PMPI_Neighbor_alltoallw_init(send, send_counts, send_places, send_types, receive,
      receive_counts, receive_places, receive_types, comm, info, made);
}
#endif
int MPI_Request_free(MPI_Request* request) {
  ++test::counters.requests_freed;
  return PMPI_Request_free(request);
}
int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype* made) {
  ++test::counters.types_made;
  return PMPI_Type_contiguous(count, of, made);
}
int MPI_Type_create_hvector(
    int count, int length, MPI_Aint stride, MPI_Datatype of, MPI_Datatype* made) {
  ++test::counters.types_made;
  return PMPI_Type_create_hvector(count, length, stride, of, made);
}
int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint places[],
    const MPI_Datatype of[], MPI_Datatype* made) {
  ++test::counters.types_made;
  return PMPI_Type_create_struct(count, lengths, places, of, made);
}
int MPI_Type_free(MPI_Datatype* type) {
  ++test::counters.types_freed;
  return PMPI_Type_free(type);
}

}  // extern "C"
