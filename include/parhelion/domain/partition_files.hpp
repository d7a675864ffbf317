// Reads partitions of meshes from files.
#pragma once

#include <filesystem>

#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion {

/// One rank's part: number of owned cells, and its ghosts' global ids (from 0), ascending.
struct PartitionPart {
  global_index owned = 0;
  std::vector<global_index> ghosts;
};

/// Local. Reads one file: little-endian 32-bit integers: number of owned cells, number m of ghosts,
/// m ascending global ids from 1; ignores the rest. Allocates no more than the file's size. Errors:
/// unreadable or truncated file, negative numbers, ids below 1 or not strictly ascending.
PartitionPart read_partition_file(const std::filesystem::path& file);

/// Collective. Every rank reads its own file of a folder (`data001` for rank 0, …); a folder named
/// `…-P` is for P ranks. Errors (on every rank): as read_partition_file; a rank count that does not
/// match.
PartitionPart read_partition(
    const std::filesystem::path& folder, const Communicator& comm = MPI_COMM_WORLD);

/// Identity of a rank's owned ids in the mesh file, `per_id` numbers each. Cells and nodes: their
/// number there, from 0. Edges and faces: their points' numbers, padded with −1.
struct PartitionKeys {
  int per_id = 0;
  std::vector<global_index> keys;
};

/// Collective. The keys of this rank's part, from the `keys001` (rank 0), … of `parhelion
/// partition`. Errors (on every rank): as read_partition; no keys, or files with different headers.
PartitionKeys read_partition_keys(
    const std::filesystem::path& folder, const Communicator& comm = MPI_COMM_WORLD);

}  // namespace parhelion
