// Points that several ranks hold, and who the others are.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// One holder's turn, in the order of ranks. Values of a point gather in the point itself where
/// this rank is its first holder, else in the slot of the first.
struct Holder {
    int rank = 0;
    std::vector<local_index> points,
        slots;  ///< gather in the points, from these slots, as many as there are points
    std::vector<local_index> into_slots,
        from;  ///< gather in slots, from other ones or (this rank) from points
};

/// An indexed pattern that sends each value of a point that several ranks hold to all other
/// holders, in one message for each. "Owned" cells of the pattern are all local points; "ghosts"
/// are slots, one for each point and other holder. Holders combine all values in ascending order of
/// rank: all get the same bits. Known as gather-scatter (Nek5000's gs, MFEM's GroupCommunicator)
/// and as the assembly of shared degrees of freedom.
struct SharedPoints {
    Pattern pattern;
    std::vector<Holder>
        holders;  ///< ascending, this rank among them where its points gather in slots
    std::vector<local_index> points;  ///< of this rank that are shared
    std::vector<local_index> given,
        gathered;          ///< points that at the end get the values of these slots
    int most_holders = 1;  ///< of a point of this rank
};

/// Collective: owners tell each holder who the others are. Memory grows with a rank's points and
/// their holders. Errors (on every rank): a rank that holds a point twice.
SharedPoints find_shared_points(const IndexedDomain& domain);

}  // namespace parhelion
