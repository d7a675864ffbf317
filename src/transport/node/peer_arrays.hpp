// A neighbor's arrays, mapped for direct copies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/core/node_memory.hpp"
#include "pattern/words.hpp"
#include "plan/array_block.hpp"

namespace parhelion {

/// Place of a block for other processes: words that name memory (a device's: process, number,
/// handle), and the first owned cell's offset in it.
struct BlockPlace {
  std::array<std::int64_t, 10> memory{};
  std::int64_t offset = 0;
  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

/// The owner describes a block, its neighbor maps it.
class ArrayAccess {
 public:
  virtual ~ArrayAccess() = default;
  /// Why neighbors cannot map all the plan's arrays, else empty. Local.
  virtual std::string refusal(const Plan& plan) const = 0;
  /// Nullopt when unmappable. Local.
  virtual std::optional<BlockPlace> describe(const ArrayBlock& block) const = 0;
  /// Maps the memory for the pointer's life. Throws Error.
  virtual std::shared_ptr<std::byte> map(const BlockPlace& place) const = 0;
  /// Message memory that neighbors can map. Throws Error.
  virtual std::shared_ptr<std::byte> allocate(byte_count bytes) const {
    return allocate_node_shared(bytes);
  }
  /// Changes when memory at these addresses may have been reallocated. Called in each exchange.
  virtual std::uint64_t identity(const std::vector<ArrayBlock>&, Bases) const {
    return node_shared_returns();
  }
};

/// For node-shared arrays, mapped by file descriptor.
std::shared_ptr<const ArrayAccess> node_shared_access();
/// For any array, mapped by XPMEM. The first description shares this process's memory with
/// processes of the same user, until it ends.
std::shared_ptr<const ArrayAccess> xpmem_access();
/// What XPMEM lacks (library, device), else empty.
std::string xpmem_unavailable();
/// Empty when the program uses a CUDA driver.
std::string device_ipc_unavailable();
/// Why neighbors cannot map all the plan's arrays by CUDA IPC, else empty. Local.
std::string device_ipc_refusal(const Plan& plan);

/// Names the first array that neighbors write and that is not node-shared, else empty.
std::string private_field(const Plan& plan);

/// Mappings of a neighbor's arrays; drops those unused for some array sets.
class PeerMappings {
 public:
  void start() { ++set_; }
  /// The block's address here; maps new memory. Throws Error.
  std::byte* find(const BlockPlace& place, const ArrayAccess& access);
  void forget_old();

 private:
  // Grants may name a set until four newer ones exist, and older sets may be resolved after it.
  static constexpr std::uint64_t sets_kept = 8;
  struct Mapped {
    decltype(BlockPlace::memory) memory;
    std::shared_ptr<std::byte> start;
    std::uint64_t last_used;
  };
  std::vector<Mapped> all_;
  std::uint64_t set_ = 0;
};

/// The neighbor's fields: no links, bases in mapped memory.
struct PeerPlan {
  Plan plan;
  std::vector<Link> link_of_group;  ///< the neighbor's, to this rank: selections only
  PeerMappings arrays;
  Links links() const;
};

void put_block_place(Words& words, const BlockPlace& place);
BlockPlace get_block_place(WordReader& words);
void put_peer_plan(Words& words, const Plan& plan, const Links& links, const ArrayAccess& access);

/// Maps the neighbor's arrays. `mine` gives element types and dimensions, equal on both sides.
/// Throws Error when an array is unmappable.
PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access);

}  // namespace parhelion
