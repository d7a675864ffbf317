// What the two sides of a link must agree on.
#pragma once

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// A message's shape: number of cells, and a fingerprint of where each box lies as seen from the
/// reader's block, of the order of entries, and of what repeats what. Equal on both sides of a
/// link, wherever their cells lie.
struct Shape {
    global_index cells = 0;
    std::uint64_t fingerprint = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
};

Shape shape_of_sends(const Link& link);
Shape shape_of_receives(const Link& link);

}  // namespace parhelion
