// Points that several ranks hold, and their holders.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// One holder's turn in combining values, by ascending rank. A point accumulates in place if this
/// rank is its first holder, else in the first holder's slot.
struct Holder {
  int rank = 0;
  std::vector<local_index> points,
      slots;  ///< points[k] ⊕= slots[k]
  std::vector<local_index> into_slots,
      from;  ///< into_slots[k] ⊕= slot (this rank: point) from[k]
};

/// An indexed pattern that sends each value of a shared point to all its other holders, one message
/// per holder. "Owned" cells are all local points, "ghosts" are slots, one per point and other
/// holder. All holders combine in ascending order of rank, with bitwise identical results. Also
/// known as gather-scatter (Nek5000's gs, MFEM's GroupCommunicator) or assembly of shared degrees
/// of freedom.
struct SharedPoints {
  Pattern pattern;
  std::vector<Holder> holders;      ///< ascending; this rank too if its points accumulate in slots
  std::vector<local_index> points;  ///< shared points of this rank
  std::vector<local_index> given,
      gathered;          ///< given[k] gets the value of slot gathered[k] at the end
  int most_holders = 1;  ///< maximum over this rank's points
};

/// Collective: owners tell each holder the others. Memory: O(local points × holders). Throws Error
/// on every rank if a rank holds a point twice.
SharedPoints find_shared_points(const IndexedDomain& domain);

}  // namespace parhelion
