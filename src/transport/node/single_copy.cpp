#include "transport/node/single_copy.hpp"

#include <algorithm>
#include <utility>

#include "core/concat.hpp"
#include "core/environment.hpp"
#include "plan/compile.hpp"

namespace parhelion {

byte_count largest_deferred() {
  static const byte_count limit =
      number_told("PARHELION_BEGIN_BYTES").value_or(byte_count{16} << 20);
  return limit;
}

SingleCopy::SingleCopy(const TransportContext& context, const std::string& name,
    std::shared_ptr<const ArrayAccess> access)
    : arrays_(context.arrays), queue_(context.queue), forward_(context.forward()),
      immediate_(context.plan.executor->is_immediate()), slots_(context.links.size()),
      plan_(context.plan), node_(context.plan.communicator().shared_state<NodeContext>()),
      name_(name), access_(std::move(access)) {
  for_blocks(plan_, [this](int f, int b) { blocks_.push_back(written_block(plan_, f, b)); });
  places_.resize(blocks_.size());
  shake_hands(context);
}

std::string SingleCopy::refusal() {
  describe_arrays();
  for (const SingleCopySlot& slot : slots_) {
    const byte_count left =
        forward_ ? slot.way->receive_bytes : slot.way->send_bytes;  // when not mapped
    if (!set_->mappable && left > largest_deferred())
      return concat("an array is not in memory that transport ", name_, " maps, and messages of ",
          left,
          " bytes are not left for it: use an array like those that the exchange was made "
          "with, or raise PARHELION_BEGIN_BYTES on every rank");
  }
  return {};
}

int SingleCopy::expected() const {
  return std::ranges::count_if(slots_, &SingleCopySlot::receives);
}

void SingleCopy::start() {
  ++number_;
  if (version_ != arrays_.version() || identity_ != access_->identity(blocks_, arrays_.bases()))
    describe_arrays();
  for (SingleCopySlot& slot : slots_) slot.reported = !slot.receives();
  patience_ = node_.oversubscribed() ? 0 : 1000;  // about 20 µs
  begun_ = queue_.record();
  granted_ = false;
}

void SingleCopy::wake(bool (SingleCopySlot::*which)() const) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const SingleCopySlot& slot : slots_)
    if ((slot.*which)()) wake_if_asleep(*slot.neighbor->mailbox);
}

std::string SingleCopy::waits_for(
    const SingleCopySlot& slot, const std::string& to, const std::string& has) const {
  return concat(
      "waiting for rank ", slot.link->rank, " to ", to, " number ", number_, " (it has ", has, ")");
}

void SingleCopy::release_memory(bool given_up, std::vector<Awaited> awaited) {
  if (given_up) {
    orphan(lines_);
    orphan(table_);
    orphan(deferred_memory_);
    if (forward_) orphan_arrays(arrays_);
    return;
  }
  orphan_until(std::make_shared<std::pair<decltype(lines_), decltype(deferred_memory_)>>(
                   lines_, deferred_memory_),
      std::move(awaited));
}

bool SingleCopy::follow(SingleCopySlot& slot, const Grant& grant) {
  if (grant.version == Grant::unmappable) return false;
  if (grant.version == slot.version) return true;
  SingleCopySlot::KnownSet& known = slot.known[grant.version % array_sets_kept];
  if (known.number != grant.version) {
    find_arrays(slot);
    known.number = grant.version;
    known.bases.assign(slot.peer.plan.bases.begin(), slot.peer.plan.bases.end());
  }
  std::copy(known.bases.begin(), known.bases.end(), slot.peer.plan.bases.begin());
  slot.version = grant.version;
  return true;
}

void SingleCopy::find_arrays(SingleCopySlot& slot) {
  const auto* table = reinterpret_cast<const BlockPlace*>(slot.their_table.get());
  slot.peer.arrays.start();
  for (std::size_t b = 0; b < slot.peer.plan.bases.size(); ++b)
    if (std::byte*& base = slot.peer.plan.bases[b]; base != nullptr)  // has cells
      base = slot.peer.arrays.find(table[b], *access_);
  slot.peer.arrays.forget_old();
}

// Compares identities too: freed memory may be reallocated at the same address.
void SingleCopy::describe_arrays() {
  identity_ = access_->identity(blocks_, arrays_.bases());
  version_ = arrays_.version();
  const auto is_here = [this](const ArraySet& each) {
    return each.number != 0 && each.identity == identity_ &&
           std::equal(each.bases.begin(), each.bases.end(), arrays_.bases());
  };
  const auto seen = std::ranges::find_if(sets_, is_here);
  use(seen != sets_.end() ? *seen : described());
}

// The known set with these places, or a new one.
ArraySet& SingleCopy::described() {
  bool mappable = true;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].empty()) continue;
    const auto place = access_->describe(blocks_[b].moved_to(arrays_.bases()[b]));
    mappable = mappable && place;
    if (place) places_[b] = *place;
  }
  auto set = std::ranges::find_if(sets_, [&](const ArraySet& each) {
    return each.number != 0 && each.mappable && mappable && each.places == places_;
  });
  if (set == sets_.end()) {
    set = sets_.begin() + ++newest_ % array_sets_kept;
    set->number = newest_;
    set->places = places_;
    set->mappable = mappable;
  }
  set->identity = identity_;
  set->bases.assign(arrays_.bases(), arrays_.bases() + blocks_.size());
  return *set;
}

void SingleCopy::use(ArraySet& set) {
  set_ = &set;
  if (set.number == in_table_) return;
  std::copy(set.places.begin(), set.places.end(), table_.get());
  in_table_ = set.number;
}

bool SingleCopy::pack_left(SingleCopySlot& slot) {
  if (!make_room()) return false;
  std::byte* const message[1] = {slot.left.slot(number_)};
  queue_.enqueue(slot.way->pack, arrays_.bases(), message);
  return true;
}

void SingleCopy::refuse_left(const SingleCopySlot& slot) {
  throw Error(concat("there is no memory for a message of ", slot.way->send_bytes,
                  " bytes to rank ", slot.link->rank,
                  ", which has an array that cannot be mapped: free some, or use another "
                  "transport"),
      ErrorKind::system);
}

void SingleCopy::note_left(SingleCopySlot& slot, DeferredNote& note) {
  if (slot.last_deferred == 0) note.place = place_left(slot);
  note.numbers[number_ % deferred_slots(slot.one_way())].store(number_, std::memory_order_relaxed);
  slot.last_deferred = number_;
}

void SingleCopy::find_left(SingleCopySlot& slot, const BlockPlace& place) const {
  const auto memory = access_->map(place);
  slot.found = {{memory, memory.get() + place.offset}, slot.way->receive_bytes, slot.one_way()};
}

void SingleCopy::take_left(SingleCopySlot& slot, const DeferredNote& note, Reduction reduction) {
  if (!slot.found.start) find_left(slot, note.place);
  std::byte* const message[1] = {slot.found.slot(number_)};
  queue_.enqueue(slot.way->unpack, message, arrays_.bases(), reduction);
}

bool SingleCopy::make_room() {
  if (deferred_memory_ != nullptr || no_room_) return !no_room_;
  byte_count total = 0;
  for (SingleCopySlot& slot : slots_) {
    slot.left = {nullptr, slot.way->send_bytes, slot.one_way()};
    if (slot.may_be_deferred()) total += slot.left.bytes();
  }
  try {
    deferred_memory_ = access_->allocate(total);
  } catch (const Error&) {
    no_room_ = true;
    return false;
  }
  std::byte* next = deferred_memory_.get();
  for (SingleCopySlot& slot : slots_) {
    if (!slot.may_be_deferred()) continue;
    slot.left.start = {deferred_memory_, std::exchange(next, next + slot.left.bytes())};
  }
  return true;
}

BlockPlace SingleCopy::place_left(const SingleCopySlot& slot) const {
  const std::byte* const first = slot.left.start.get();
  return access_->describe({first, first, first + slot.left.bytes()}).value();
}

std::vector<Words> SingleCopy::write_headers(const TransportContext& context) {
  const std::string why = context.links.empty() ? "" : access_->refusal(plan_);
  if (!why.empty()) throw Error("transport " + name_ + ": " + why + ", or another transport");
  lines_ = make_lines<SingleCopyLines>(slots_.size());
  table_ = make_lines<BlockPlace>(blocks_.size());
  describe_arrays();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].link = context.links[i];
    slots_[i].way = &context.way(*context.links[i]);
    slots_[i].mine = &lines_.get()[i];
  }
  std::vector<Words> headers;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Words& header = headers.emplace_back();
    put_place(header, node_.mailbox_place());
    put_place(header, describe_place(slots_[i].mine));
    put_place(header, describe_place(table_.get()));
    header.push_back(set_->number);
    const bool has_room = !forward_ && slots_[i].may_be_deferred() && make_room();
    header.push_back(has_room);
    if (has_room) put_block_place(header, place_left(slots_[i]));
    put_peer_plan(header, plan_, slots_[i].link->links, *access_);
  }
  return headers;
}

void SingleCopy::shake_hands(const TransportContext& context) {
  exchange_headers(
      context, [&] { return write_headers(context); },
      [&](std::size_t i, WordReader& header) {
        SingleCopySlot& slot = slots_[i];
        slot.neighbor = &node_.meet(slot.link->rank, get_place(header));
        slot.their_lines = map_place(get_place(header));
        slot.theirs = reinterpret_cast<SingleCopyLines*>(slot.their_lines.get());
        slot.their_table = map_place(get_place(header));
        slot.version = static_cast<std::uint64_t>(header.next());
        if (header.next() != 0) find_left(slot, get_block_place(header));
        slot.peer = get_peer_plan(header, plan_, *access_);
        slot.known[slot.version % array_sets_kept] = {slot.version, slot.peer.plan.bases};
        const Links links = slot.peer.links();
        const LinksEnd owned{plan_, slot.link->links, End::owned},
            ghosts{slot.peer.plan, links, End::ghosts};
        slot.copies = forward_ ? compile_direct(owned, ghosts) : compile_direct(ghosts, owned);
        plan_.executor->compile(slot.copies);
      });
}

}  // namespace parhelion
