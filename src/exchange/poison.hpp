// Values that no program means: what ghosts hold while an exchange that fills them is under way.
#pragma once

#include "parhelion/core/element.hpp"

namespace parhelion {

/// Fills `bytes` bytes with elements: signalling NaNs for floating-point and complex numbers, bytes of 0xdb for all else.
void fill_poison(std::byte* first, byte_count bytes, const Element& element);

}  // namespace parhelion
