// A neighbor's side of a link, as far as this rank needs it to copy straight between both ranks' arrays.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "transport/node/array_access.hpp"

namespace parhelion {

/// The neighbor's fields as seen from here: a plan without links whose bases point into mapped memory.
struct PeerPlan {
    Plan plan;
    Selection receive;  ///< the neighbor's ghosts that this rank owns
    Selection send;     ///< the neighbor's cells that are ghosts here
    std::vector<std::shared_ptr<void>> mappings;
};

/// What a neighbor needs to make a PeerPlan of this rank.
void put_peer_plan(Words& words, const Plan& plan, const Link& link, const ArrayAccess& access);

/// Maps the neighbor's arrays. `mine` gives element types and dimensions, which are equal on both sides.
/// Throws Error when an array cannot be mapped.
PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access);

}  // namespace parhelion
