// Single copy, reverse: the owner of a cell combines ghosts directly from its neighbors' memory, in
// ascending order of rank, and signals completion.
//
// The holder grants exchange n in its own memory. The owner claims the grant at the holder's turn.
// A holder that has waited for that in end packs a deferred message instead and withdraws the
// grant: the first to change the word decides. So a rank ends an exchange before its neighbors
// begin it, unless its message is too large to defer.
#include <algorithm>

#include "core/concat.hpp"
#include "transport/factories.hpp"
#include "transport/node/single_copy.hpp"

namespace parhelion {
namespace {

// Grant words, in the holder's memory. A larger word means a later exchange: this one was deferred.
constexpr std::uint64_t granted(std::uint64_t number) { return 4 * number; }
constexpr std::uint64_t claimed(std::uint64_t number) { return 4 * number + 1; }
constexpr std::uint64_t withdrawn(std::uint64_t number) { return 4 * number + 2; }

class SharedReverse final : public SingleCopy {
 public:
  using SingleCopy::SingleCopy;

  // Late neighbors still read deferred messages.
  ~SharedReverse() override {
    if (number_ == 0 && !has_given_up()) return;
    release_memory(has_given_up() || std::ranges::any_of(slots_,
                                         [this](const auto& slot) { return slot.waits(number_); }),
        [this](std::vector<Awaited>& awaited) {
          for (const SingleCopySlot& slot : slots_)
            if (slot.sends()) awaited.push_back({&slot.mine->done.value, number_});
        });
  }

  void begin() override {
    start();
    for (SingleCopySlot& slot : slots_) slot.leaving = false;
    get_on();
  }

  // Neighbors do not need this rank.
  void leave() override {
    if (immediate_) return;
    queue_.wait();
    get_on();
  }

  int ready() override {
    get_on();
    return report_next(
        slots_, [this](const SingleCopySlot& slot) { return begun(slot) >= number_; });
  }

  // Signals completion also on errors: the neighbor continues.
  void deliver(int i, Reduction reduction) override {
    const int joined = slots_[i].joined;
    if (joined >= 0 && --joined_[joined].missing > 0) return;
    const auto for_each = [&](auto&& act) {
      if (joined < 0) return act(slots_[i]);
      for (SingleCopySlot& slot : slots_)
        if (slot.joined == joined) act(slot);
    };
    try {
      bool all = joined >= 0;
      for_each([&](SingleCopySlot& slot) { all = claim(slot) && all; });
      if (all) copy_joined(joined_[joined], reduction);
      else for_each([&](SingleCopySlot& slot) { combine(slot, reduction); });
    } catch (...) {
      for_each([this](SingleCopySlot& slot) { tell(slot); });
      throw;
    }
    for_each([this](SingleCopySlot& slot) {
      slot.taken = queue_.record();
      slot.taking = true;
      tell_taken(slot);
    });
  }

  bool finished() override {
    get_on();
    bool all = granted_;
    for (SingleCopySlot& slot : slots_) {
      all = all && !slot.taking;
      if (!slot.sends()) continue;
      if (slot.waits(number_) && !slot.leaving && patience_ == 0) leave(slot);
      all = all && !slot.copying && !slot.waits(number_) &&
            (!slot.one_way() || has_room(slot, number_ + 1));
    }
    if (patience_ > 0) --patience_;
    return all;
  }

  std::string state(int i) const override {
    const SingleCopySlot& slot = slots_[i];
    if (slot.receives() && begun(slot) < number_)
      return waits_for(slot, "begin exchange", concat("begun number ", begun(slot)));
    if (slot.waits(number_) || (slot.one_way() && slot.sends() && !has_room(slot, number_ + 1)))
      return waits_for(
          slot, "take this rank's values of exchange", concat("taken number ", taken(slot)));
    return {};
  }

 private:
  static std::uint64_t begun(const SingleCopySlot& slot) {
    return slot.theirs->grant.number.load(std::memory_order_acquire) / 4;
  }
  static std::uint64_t taken(const SingleCopySlot& slot) {
    return slot.mine->done.value.load(std::memory_order_acquire);
  }
  static bool has_room(const SingleCopySlot& slot, std::uint64_t number) {
    return has_deferred_slot(number, taken(slot) + 1, slot.one_way());
  }
  bool is_mapped() const { return granted_set() != Grant::unmappable; }

  // Grants once earlier work in the queue no longer writes the ghosts.
  void get_on() {
    if (!granted_ && queue_.is_done(begun_)) grant();
    for (SingleCopySlot& slot : slots_) {
      if (slot.copying) tell_left(slot);
      if (slot.waits(number_) && taken(slot) >= number_) slot.put = number_;
      if (slot.taking) tell_taken(slot);
      if (granted_ && !is_mapped() && slot.waits(number_)) leave(slot);
    }
  }

  void grant() {
    granted_ = true;
    if (!is_mapped()) return;
    for (SingleCopySlot& slot : slots_)
      if (slot.sends()) {
        slot.mine->grant.version = granted_set();
        slot.mine->grant.number.store(granted(number_), std::memory_order_release);
      }
    wake(&SingleCopySlot::sends);
  }

  // Defers once, if a slot is free. Without memory, neighbors that map the ghosts read them.
  void leave(SingleCopySlot& slot) {
    if (slot.leaving || !slot.may_be_deferred() || !has_room(slot, number_)) return;
    slot.leaving = true;
    if (!pack_left(slot)) {
      if (!is_mapped()) refuse_left(slot);
      return;
    }
    slot.copied = queue_.record();
    slot.copying = true;
    tell_left(slot);
  }

  void tell_left(SingleCopySlot& slot) {
    if (!queue_.is_done(slot.copied)) return;
    slot.copying = false;
    note_left(slot, slot.mine->left);
    std::uint64_t expected = granted(number_);
    auto& word = slot.mine->grant.number;
    if (!is_mapped()) post(word, withdrawn(number_), *slot.neighbor->mailbox);
    else if (!word.compare_exchange_strong(expected, withdrawn(number_))) return;
    slot.put = number_;
  }

  // False: it has left a message.
  bool claim(SingleCopySlot& slot) {
    std::uint64_t expected = granted(number_);
    slot.is_claimed = slot.theirs->grant.number.compare_exchange_strong(expected, claimed(number_));
    return slot.is_claimed && follow(slot, slot.theirs->grant);
  }

  void combine(SingleCopySlot& slot, Reduction reduction) {
    if (!slot.is_claimed) return take_left(slot, slot.theirs->left, reduction);
    queue_.enqueue(slot.copies, slot.peer.plan.bases.data(), arrays_.bases(), reduction);
  }

  void tell_taken(SingleCopySlot& slot) {
    if (!queue_.is_done(slot.taken)) return;
    slot.taking = false;
    tell(slot);
  }

  void tell(SingleCopySlot& slot) {
    post(slot.theirs->done.value, number_, *slot.neighbor->mailbox);
  }
};

}  // namespace

std::unique_ptr<Transport> make_shared_reverse(const TransportContext& context,
    const std::string& name, std::shared_ptr<const ArrayAccess> access) {
  return std::make_unique<SharedReverse>(context, name, std::move(access));
}

}  // namespace parhelion
