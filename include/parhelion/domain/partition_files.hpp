// Partitions of real meshes on disk.
#pragma once

#include <filesystem>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/domain/indexed_domain.hpp"

namespace parhelion {

/// One rank's part: how many cells it owns, and the global ids (from 0) of its ghosts, ascending.
struct PartitionPart {
    global_index owned = 0;
    std::vector<global_index> ghosts;
};

/// Local. Reads one file of the published layout: little-endian 32-bit integers, number of owned
/// cells, number of off-process cells m, m ascending global ids from 1; what follows is ignored.
/// Never allocates more than the file's size. Errors: cannot be read, too short, negative numbers,
/// ids below 1 or not strictly ascending.
PartitionPart read_partition_file(const std::filesystem::path& file);

/// Collective. Of a data-set folder every rank reads its own file (`data001` for rank 0, …); a
/// folder named `…-P` is for P ranks. Errors (on every rank): as above, a missing or damaged file,
/// a rank count that does not match.
PartitionPart read_partition(const std::filesystem::path& folder,
                             const Communicator& comm = MPI_COMM_WORLD);

/// What a rank's owned ids are in the mesh file: `per_id` numbers for each, one id after the other.
/// Of cells and nodes their number there, from 0; of edges and faces the numbers of their points,
/// filled up with −1.
struct PartitionKeys {
    int per_id = 0;
    std::vector<global_index> keys;
};

/// Collective. The keys of this rank's part, from the `keys001` (rank 0), … of `parhelion
/// partition`. Errors (on every rank): as above; a data set without keys, or whose files begin
/// differently.
PartitionKeys read_partition_keys(const std::filesystem::path& folder,
                                  const Communicator& comm = MPI_COMM_WORLD);

}  // namespace parhelion
