// Lifetime of mappings of neighbors' memory.
#include <map>

#include "support/cases.hpp"

#include "transport/node/peer_arrays.hpp"

using namespace parhelion;

namespace {

struct Counted final : ArrayAccess {
  mutable std::map<std::int64_t, std::weak_ptr<std::byte>> mapped;
  std::string refusal(const Plan&) const override { return {}; }
  std::optional<BlockPlace> describe(const ArrayBlock&) const override { return {}; }
  std::shared_ptr<std::byte> map(const BlockPlace& place) const override {
    const std::shared_ptr<std::byte> memory(new std::byte[8], std::default_delete<std::byte[]>());
    mapped[place.memory[0]] = memory;
    return memory;
  }
  bool has(std::int64_t memory) const { return !mapped.at(memory).expired(); }
};

}  // namespace

CASE(
    "the last four sets of a neighbor's arrays stay mapped, in whatever order they were looked at; "
    "old ones go") {
  const Counted access;
  PeerMappings mappings;
  const auto look_at = [&](std::int64_t set) {
    mappings.start();
    mappings.find(BlockPlace{{set, 0, 0, 0}, 0}, access);
    mappings.forget_old();
  };
  for (const std::int64_t set : {1, 4, 3, 2, 5, 6, 7})
    look_at(set);  // 2 and 3 after the neighbor announced 4
  for (const std::int64_t set : {4, 5, 6, 7}) EXPECT_TRUE(access.has(set));
  for (std::int64_t set = 8; set < 20; ++set) look_at(set);
  for (std::int64_t set = 1; set < 8; ++set) EXPECT_FALSE(access.has(set));
}
