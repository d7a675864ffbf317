// Distributed directory that maps ids to owners.
#pragma once

#include <span>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// What this rank registers in the directory.
struct Ownership {
    global_index id_limit;                      ///< ids are 0 … id_limit − 1; equal on all ranks
    global_index first = 0, owned = 0;          ///< a block, or
    std::span<const global_index> owned_ids{};  ///< arbitrary ids
    bool arbitrary = false;
};

/// Collective. Owner of each of `ids`, which must be ascending and below the limit; −1: no owner.
/// Throws Error if an id has several owners. Rank i / ⌈limit / ranks⌉ looks up id i among its
/// range's owners. A block is registered once, at its first id; a prefix maximum finds owners of
/// blocks that start further left.
std::vector<int> find_owners(const Communicator& comm, const Ownership& mine,
                             std::span<const global_index> ids);

}  // namespace parhelion
