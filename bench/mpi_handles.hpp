#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

// Open MPI 5 reports MPI 3.1 but has persistent collectives.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PARHELION_HAS_PERSISTENT_COLLECTIVES
// Null if the MPI at run time, of the same ABI, lacks them: tested before each call.
#pragma weak MPI_Alltoall_init
#pragma weak MPI_Neighbor_alltoallv_init
#endif

namespace parhelion::bench {

class Datatypes {
 public:
  Datatypes() = default;
  ~Datatypes() {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }
  Datatypes(const Datatypes&) = delete;
  Datatypes& operator=(const Datatypes&) = delete;

  void add(MPI_Datatype type) {
    types_.push_back(type);
    MPI_Type_commit(&types_.back());
  }
  MPI_Datatype operator[](std::size_t which) const { return types_[which]; }

 private:
  std::vector<MPI_Datatype> types_;
};

/// A type of `bytes` contiguous bytes in the widest units that divide them, which saves MPI work
/// per byte. The caller frees it.
inline MPI_Datatype contiguous_bytes(std::size_t bytes) {
  const std::size_t unit = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  const MPI_Datatype base = unit == 8   ? MPI_INT64_T
                            : unit == 4 ? MPI_INT32_T
                            : unit == 2 ? MPI_INT16_T
                                        : MPI_BYTE;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes / unit), base, &type);
  return type;
}

/// A distributed-graph communicator in the caller's order of neighbors, freed by the destructor.
/// The constructor is collective.
class Neighborhood {
 public:
  Neighborhood(MPI_Comm comm, const std::vector<int>& sources, const std::vector<int>& targets) {
    // Without neighbors MPICH still requires MPI_UNWEIGHTED; padding keeps data() valid.
    const std::vector<int> from = padded(sources), to = padded(targets);
    MPI_Dist_graph_create_adjacent(comm, static_cast<int>(sources.size()), from.data(),
        MPI_UNWEIGHTED, static_cast<int>(targets.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
        0, &comm_);
  }
  ~Neighborhood() { MPI_Comm_free(&comm_); }
  Neighborhood(const Neighborhood&) = delete;
  Neighborhood& operator=(const Neighborhood&) = delete;

  MPI_Comm get() const { return comm_; }

 private:
  static std::vector<int> padded(std::vector<int> ranks) {
    ranks.push_back(0);
    return ranks;
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Persistent requests, freed by the destructor; they must be complete by then.
class PersistentRequests {
 public:
  PersistentRequests() = default;
  PersistentRequests(const PersistentRequests&) = delete;
  PersistentRequests& operator=(const PersistentRequests&) = delete;
  ~PersistentRequests() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  /// Appends a request, for MPI_Send_init and the like.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  int size() const { return static_cast<int>(requests_.size()); }
  void start_all() {
    if (size() > 0) MPI_Startall(size(), requests_.data());
  }
  void wait_all() { MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE); }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace parhelion::bench
