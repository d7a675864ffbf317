// A neighbor's arrays, as far as this rank needs them to copy straight between both ranks' memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/core/node_memory.hpp"
#include "parhelion/plan/plan.hpp"
#include "pattern/words.hpp"
#include "plan/array_block.hpp"

namespace parhelion {

/// Where a block lies, in words that another process understands: those that name a piece of
/// memory (a device's: process, number, handle), and the offset of the first owned cell in it.
struct BlockPlace {
    std::array<std::int64_t, 10> memory{};
    std::int64_t offset = 0;
    friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

/// The owner describes a block, its neighbor maps it.
class ArrayAccess {
public:
    virtual ~ArrayAccess() = default;
    /// Empty when neighbors can map all arrays of the plan, else why not. Local.
    virtual std::string refusal(const Plan& plan) const = 0;
    /// Empty where neighbors cannot map the block. Local.
    virtual std::optional<BlockPlace> describe(const ArrayBlock& block) const = 0;
    /// Mapped until the last copy of the pointer goes. Throws Error when it cannot be mapped.
    virtual std::shared_ptr<std::byte> map(const BlockPlace& place) const = 0;
    /// Memory for messages, which neighbors can map. Throws Error.
    virtual std::shared_ptr<std::byte> allocate(byte_count bytes) const {
        return allocate_node_shared(bytes);
    }
    /// As long as it is the same, what is at these addresses is what was there. On each call.
    virtual std::uint64_t identity(const std::vector<ArrayBlock>&, Bases) const {
        return node_shared_returns();
    }
};

/// Arrays in node-shared memory, mapped by their descriptors.
std::shared_ptr<const ArrayAccess> node_shared_access();
/// Any array, mapped by XPMEM. The first description shares all memory of this process with others
/// of the same user, until it ends.
std::shared_ptr<const ArrayAccess> xpmem_access();
/// Empty where XPMEM's library and device are there, else what is missing. Local; looked for once.
std::string xpmem_unavailable();
/// Empty where the program uses a driver of CUDA. Local.
std::string device_ipc_unavailable();
/// Why neighbors cannot map all arrays of the plan through CUDA's handles, empty where they can.
/// Local.
std::string device_ipc_refusal(const Plan& plan);

/// Empty when all that neighbors write into is in node-shared memory, else which array is not.
std::string private_field(const Plan& plan);

/// Mappings of a neighbor's arrays. Those that it has not used for some sets of arrays are given
/// back.
class PeerMappings {
public:
    /// Another set of arrays follows.
    void start() { ++set_; }
    /// Where the block is, here. Maps new memory. Throws Error when it cannot be mapped.
    std::byte* find(const BlockPlace& place, const ArrayAccess& access);
    void forget_old();

private:
    // A set may be named again until four others were new, and earlier ones be looked at after it.
    static constexpr std::uint64_t sets_kept = 8;
    struct Mapped {
        decltype(BlockPlace::memory) memory;
        std::shared_ptr<std::byte> start;
        std::uint64_t last_used;
    };
    std::vector<Mapped> all_;
    std::uint64_t set_ = 0;
};

/// The neighbor's fields as seen from here: a plan without links whose bases point into mapped
/// memory.
struct PeerPlan {
    Plan plan;
    std::vector<Link> link_of_group;  ///< the neighbor's with this rank: selections only
    PeerMappings arrays;
    Links links() const;
};

void put_block_place(Words& words, const BlockPlace& place);
BlockPlace get_block_place(WordReader& words);
/// Writes what a neighbor needs to make a PeerPlan of this rank.
void put_peer_plan(Words& words, const Plan& plan, const Links& links, const ArrayAccess& access);

/// Maps the neighbor's arrays. `mine` gives element types and dimensions, which are equal on both
/// sides. Throws Error when an array cannot be mapped.
PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access);

}  // namespace parhelion
