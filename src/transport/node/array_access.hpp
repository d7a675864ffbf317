// Ways to get at a neighbor's arrays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pattern/words.hpp"
#include "plan/array_block.hpp"

namespace parhelion {

/// Where a block lies, in words that another process understands: 64 bytes that name a piece of
/// memory, as long as the handles of devices are, and where in it the first owned cell is.
struct BlockPlace {
    static constexpr std::size_t size = 9;  // words
    std::array<std::int64_t, size - 1> memory{};
    std::int64_t offset = 0;
    friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};
void put_block_place(Words& header, const BlockPlace& place);
BlockPlace get_block_place(WordReader& header);

/// The owner describes a block, its neighbor maps it.
class ArrayAccess {
public:
    virtual ~ArrayAccess() = default;

    /// Empty when neighbors can get at all arrays of the plan in this way, else why not. Local.
    virtual std::string refusal(const Plan& plan) const = 0;
    /// Empty where neighbors cannot get at the block in this way. Local.
    virtual std::optional<BlockPlace> describe(const ArrayBlock& block) const = 0;
    /// The neighbor's memory, mapped here until the last copy of the pointer goes. Throws Error
    /// when it cannot be mapped.
    virtual std::shared_ptr<std::byte> map(const BlockPlace& place) const = 0;
};

/// Arrays in node-shared memory, mapped by their descriptors.
const ArrayAccess& node_shared_access();
/// Any array, mapped by XPMEM.
const ArrayAccess& xpmem_access();

/// Empty when all that neighbors write into is in node-shared memory, else which array is not.
std::string private_field(const Plan& plan);

}  // namespace parhelion
