// The properties that the two sides of a link must agree on.
#pragma once

#include "parhelion/pattern/pattern.hpp"

namespace parhelion {

/// A message's shape: number of cells, and a fingerprint of each box's position relative to the
/// reader's block, the order of entries, and the duplicates. Equal on both sides of a link.
struct Shape {
    global_index cells = 0;
    std::uint64_t fingerprint = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
};

Shape shape_of_sends(const Link& link);
Shape shape_of_receives(const Link& link);

}  // namespace parhelion
