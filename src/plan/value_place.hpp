// Whose value a byte of a message is.
#pragma once

#include <string>

#include "plan/layout.hpp"

namespace parhelion {

/// A value of a cell that is exchanged: `size` bytes from `first` on in the message.
struct ValuePlace {
    int f = 0;
    bool owned = false;  ///< by this rank
    int component = 0;
    std::vector<global_index> cell = {};  ///< where its owner has it: a coordinate for each
                                          ///< dimension, or its global id; none where nobody knows
    local_index local = -1;               ///< indexed
    byte_count first = 0, size = 0;
};

/// Of byte `at` of a message, whose boxes are packed in these orders (null: in those of this rank).
/// Local. There must be a value there.
ValuePlace value_at(const Plan& plan, const MessageLayout& layout, byte_count at,
                    const std::vector<std::vector<int>>* orders = nullptr);

/// The first byte from `from` on at which two messages of the layout hold different values, or −1.
/// What lies between fields does not count.
byte_count first_difference(const MessageLayout& layout, const std::byte* a, const std::byte* b,
                            byte_count from);

/// "cell (3, 17)", "cell 17" or "local cell 3", with its component where the field has several.
std::string to_string(const Plan& plan, const ValuePlace& place);

/// A value in words: 1.5, (1, 2), 0xdb….
std::string value_text(const Element& element, const std::byte* value);

}  // namespace parhelion
