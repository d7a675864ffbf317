// A neighbor's side of a link, as far as this rank needs it to copy straight between both ranks'
// arrays.
#pragma once

#include <memory>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "transport/node/array_access.hpp"

namespace parhelion {

/// A neighbor's memory that its arrays lie in. What it has not used for some sets of arrays is
/// given back.
class PeerMappings {
public:
    /// Another set of arrays follows.
    void start() { ++set_; }
    /// Where the block is, here. Maps what is new. Throws Error when it cannot be mapped.
    std::byte* find(const BlockPlace& place, const ArrayAccess& access) {
        for (Mapped& each : all_)
            if (each.memory == place.memory) return use(each, place.offset);
        return use(all_.emplace_back(Mapped{place.memory, access.map(place), set_}), place.offset);
    }
    /// The same by one of the words that name the memory, which is different for all of them; null
    /// where it is new.
    std::byte* find(std::size_t word, std::int64_t value, std::int64_t offset) {
        for (Mapped& each : all_)
            if (each.memory[word] == value) return use(each, offset);
        return nullptr;
    }
    void forget_old() {
        std::erase_if(all_,
                      [this](const Mapped& each) { return each.last_used + sets_kept <= set_; });
    }

private:
    // A set may be named again until four others were new; those that the neighbor told earlier may
    // be looked at after it: six finds.
    static constexpr std::uint64_t sets_kept = 8;
    struct Mapped {
        decltype(BlockPlace::memory) memory;
        std::shared_ptr<std::byte> start;
        std::uint64_t last_used;
    };
    std::byte* use(Mapped& mapped, std::int64_t offset) {
        mapped.last_used = set_;
        return mapped.start.get() + offset;
    }
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

/// What a neighbor needs to make a PeerPlan of this rank.
void put_peer_plan(Words& words, const Plan& plan, const Links& links, const ArrayAccess& access);

/// Maps the neighbor's arrays. `mine` gives element types and dimensions, which are equal on both
/// sides. Throws Error when an array cannot be mapped.
PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access);

}  // namespace parhelion
