// Points that several ranks hold, and their holders.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// The steps that combine one holder's values. A point accumulates in place if this rank is its
/// first holder, else in the first holder's slot. Holders take turns in ascending order of rank.
struct Holder {
    int rank = 0;
    std::vector<local_index> points,
        slots;  ///< points[k] ⊕= slots[k]
    std::vector<local_index> into_slots,
        from;  ///< into_slots[k] ⊕= slot (this rank: point) from[k]
};

/// An indexed pattern that sends each value of a shared point to all its other holders, in one
/// message per holder. The pattern's "owned" cells are all local points, its "ghosts" are slots,
/// one per point and other holder. Every holder combines the values in ascending order of rank, so
/// all get bitwise identical results. Also known as gather-scatter (Nek5000's gs, MFEM's
/// GroupCommunicator) or assembly of shared degrees of freedom.
struct SharedPoints {
    Pattern pattern;
    std::vector<Holder> holders;  ///< ascending; this rank too if its points accumulate in slots
    std::vector<local_index> points;  ///< shared points of this rank
    std::vector<local_index> given,
        gathered;          ///< given[k] finally gets the value of slot gathered[k]
    int most_holders = 1;  ///< maximum over this rank's points
};

/// Collective: owners tell each holder the other holders. Memory is proportional to the number of
/// local points and their holders. Throws Error on every rank if a rank holds a point twice.
SharedPoints find_shared_points(const IndexedDomain& domain);

}  // namespace parhelion
