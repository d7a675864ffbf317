// The distributed directory that answers "who owns this id?".
#pragma once

#include <span>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/types.hpp"

namespace parhelion {

/// What this rank tells the directory about itself.
struct Ownership {
    global_index id_limit;                      ///< ids are 0 … id_limit − 1, the same on all ranks
    global_index first = 0, owned = 0;          ///< a block, or
    std::span<const global_index> owned_ids{};  ///< any ids
    bool arbitrary = false;
};

/// Collective. Owner of each of `ids`, which must be ascending and within the limit; −1 for an id
/// that nobody owns. Throws Error where an id is owned more than once. Id i is looked up at rank i
/// / ⌈limit / ranks⌉, which knows the owners in its range; a block is registered once, where it
/// begins, and a prefix maximum tells who owns what begins further left.
std::vector<int> find_owners(const Communicator& comm, const Ownership& mine,
                             std::span<const global_index> ids);

}  // namespace parhelion
