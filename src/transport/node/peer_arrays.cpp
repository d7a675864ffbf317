#include "transport/node/peer_arrays.hpp"

#include <unistd.h>

#include <algorithm>

#include "plan/compile.hpp"
#include "transport/node/peer_memory.hpp"

namespace parhelion {
namespace {

class NodeSharedAccess final : public ArrayAccess {
 public:
  std::string refusal(const Plan& plan) const override { return private_field(plan); }
  std::optional<BlockPlace> describe(const ArrayBlock& block) const override {
    static const std::int64_t process = getpid();
    const auto place = find_node_shared(block.first);
    if (!place) return {};
    return BlockPlace{
        {process, place->descriptor, static_cast<std::int64_t>(place->identity), place->size},
        place->offset};
  }
  std::shared_ptr<std::byte> map(const BlockPlace& place) const override {
    const auto& words = place.memory;
    return map_place({words[0], words[1], words[2], words[3], 0});
  }
};

void put_group(Words& words, const Pattern& pattern, const Link& link) {
  words.push_back(pattern.owned);
  words.push_back(pattern.blocks.size());
  for (const Box& block : pattern.blocks) put_box(words, block);
  put_selection(words, link.receive);
  put_selection(words, link.send);
}

void get_group(WordReader& words, const Pattern& mine, PeerPlan& peer) {
  auto pattern = std::make_shared<Pattern>(
      Pattern{mine.communicator, mine.dimensions, {}, HaloWidth(0), 0, 0, {}});
  pattern->owned = words.next<local_index>();
  pattern->blocks.resize(words.next<std::size_t>());
  for (Box& block : pattern->blocks) block = words.box();
  Link& link = peer.link_of_group.emplace_back();
  link.receive = words.selection();
  link.send = words.selection();
  peer.plan.patterns.push_back(std::move(pattern));
}

}  // namespace

void put_block_place(Words& words, const BlockPlace& place) {
  words.insert(words.end(), place.memory.begin(), place.memory.end());
  words.push_back(place.offset);
}

BlockPlace get_block_place(WordReader& words) {
  BlockPlace place;
  for (auto& word : place.memory) word = words.next();
  place.offset = words.next();
  return place;
}

std::shared_ptr<const ArrayAccess> node_shared_access() {
  return std::make_shared<NodeSharedAccess>();
}

std::string private_field(const Plan& plan) {
  std::string refusal;
  for_blocks(plan, [&](int f, int b) {
    if (refusal.empty() && !written_block(plan, f, b).empty() &&
        !find_node_shared(plan.fields[f].blocks[b].first))
      refusal = field_name(plan, f) +
                " is not in node-shared memory: use an array that make_array, zeros or "
                "NodeAllocator gives";
  });
  return refusal;
}

std::byte* PeerMappings::find(const BlockPlace& place, const ArrayAccess& access) {
  auto known = std::ranges::find(all_, place.memory, &Mapped::memory);
  if (known == all_.end()) known = all_.insert(known, {place.memory, access.map(place), set_});
  known->last_used = set_;
  return known->start.get() + place.offset;
}

void PeerMappings::forget_old() {
  std::erase_if(all_, [this](const Mapped& each) { return each.last_used + sets_kept <= set_; });
}

Links PeerPlan::links() const {
  Links all;
  for (const Link& link : link_of_group) all.push_back(&link);
  return all;
}

void put_peer_plan(Words& words, const Plan& plan, const Links& links, const ArrayAccess& access) {
  for (std::size_t g = 0; g < links.size(); ++g) put_group(words, *plan.patterns[g], *links[g]);
  for (int f = 0; f < plan.field_count(); ++f) {
    const Field& field = plan.fields[f];
    words.push_back(field.blocks.size());
    for (int b = 0; b < static_cast<int>(field.blocks.size()); ++b) {
      const BlockView& block = field.blocks[b];
      const ArrayBlock cells = written_block(plan, f, b);
      words.push_back(!cells.empty());
      if (!cells.empty()) put_block_place(words, access.describe(cells).value());
      words.insert(words.end(), block.strides.begin(), block.strides.end());
      words.push_back(field.stride_of_components(b));
    }
  }
}

PeerPlan get_peer_plan(WordReader& words, const Plan& mine, const ArrayAccess& access) {
  PeerPlan peer;
  peer.arrays.start();
  for (const auto& pattern : mine.patterns) get_group(words, *pattern, peer);
  peer.plan.group_of = mine.group_of;
  peer.plan.numbers = mine.numbers;
  for (const Field& own : mine.fields) {
    Field field = own;
    field.blocks.clear();
    peer.plan.first_base.push_back(peer.plan.bases.size());
    field.blocks.resize(words.next<std::size_t>());
    for (BlockView& block : field.blocks) {
      if (words.next() != 0) block.first = peer.arrays.find(get_block_place(words), access);
      for (auto& stride : block.strides) stride = words.next();
      block.component_stride = words.next();
      peer.plan.bases.push_back(block.first);
    }
    peer.plan.fields.push_back(std::move(field));
  }
  index_likes(peer.plan);
  return peer;
}

}  // namespace parhelion
