// Maps bytes of a message to values of cells.
#pragma once

#include <string>

#include "plan/layout.hpp"

namespace parhelion {

/// A value of an exchanged cell: `size` bytes from byte `first` of the message.
struct ValuePlace {
  int f = 0;
  bool owned = false;    ///< by this rank
  bool negated = false;  ///< a ghost whose owner has it with the other sign
  int component = 0;
  std::vector<global_index> cell = {};  ///< owner's coordinates or global id; empty if unknown
  local_index local = -1;               ///< indexed only
  byte_count first = 0, size = 0;
};

/// The value at byte `at`, not padding, of a message in this rank's packing order.
ValuePlace value_at(const Plan& plan, const MessageLayout& layout, byte_count at);

/// First byte from `from` on at which two messages differ, but for padding, or −1.
byte_count first_difference(
    const MessageLayout& layout, const std::byte* a, const std::byte* b, byte_count from);

/// "cell (3, 17)", "cell 17" or "local cell 3", and the component if there are several.
std::string to_string(const Plan& plan, const ValuePlace& place);

/// A value as text, or its negative: 1.5, (1, 2), 0xdb….
std::string value_text(const Element& element, const std::byte* value, bool negated = false);

}  // namespace parhelion
