// Ways to get at a neighbor's arrays.
#pragma once

#include <memory>
#include <string>

#include "parhelion/plan/plan.hpp"
#include "pattern/words.hpp"

namespace parhelion {

/// A block of an array as its owner sees it: its first owned cell, and the bytes that cells and ghosts lie in.
struct ArrayBlock {
    const std::byte* first = nullptr;
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
};
/// The bytes of block `b` of a field, ghosts included. Empty where the rank has no cells in it.
ArrayBlock array_block(const Plan& plan, const Field& field, std::size_t b);

/// The owner puts words into a letter, from which its neighbor maps the block.
class ArrayAccess {
public:
    static constexpr std::size_t words = 5;  ///< that describe a block
    virtual ~ArrayAccess() = default;

    /// Empty when neighbors can get at all arrays of the plan in this way, else why not. Local.
    virtual std::string refusal(const Plan& plan) const = 0;
    virtual void describe(Words& letter, const ArrayBlock& block) const = 0;
    /// The neighbor's first cell of the block, mapped here until the last copy of the pointer goes; null for a block without
    /// cells. Throws Error when it cannot be mapped.
    virtual std::shared_ptr<std::byte> map(WordReader& letter) const = 0;
};

/// Arrays in node-shared memory, mapped by their descriptors.
const ArrayAccess& node_shared_access();
/// Any array, mapped by XPMEM.
const ArrayAccess& xpmem_access();

/// Empty when every array of the plan is in node-shared memory, else which is not.
std::string private_field(const Plan& plan);
/// Empty when no field has rows whose places a neighbor does not know, else which has.
std::string ragged_field(const Plan& plan);

}  // namespace parhelion
