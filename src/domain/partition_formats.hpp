#pragma once

#include "parhelion/domain/partition_files.hpp"

namespace parhelion {

/// Local. A rank's part of a file NAME-P.phlmap; its keys are not read.
/// Errors: cannot be read, another version, damaged, for another number of ranks.
PartitionPart read_phlmap(const std::filesystem::path& file, int rank, int ranks);
/// The same for its keys alone.
PartitionKeys read_phlmap_keys(const std::filesystem::path& file, int rank, int ranks);

}  // namespace parhelion
