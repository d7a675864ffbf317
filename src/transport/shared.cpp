// Single copy, forward: the owner of a cell writes it into its neighbor's ghosts. Transport shared
// maps arrays in node-shared memory, xpmem any host memory, device_ipc device memory.
//
// Per link and exchange, the holder of the ghosts grants write access (begin), the owner copies and
// signals completion, the holder continues. Both signals are sequence numbers that the other side
// polls. The owner copies when it sees the grant: in begin, in end, or while it waits in another
// exchange. If it leaves after begin, or receives nothing, it packs ungranted messages into its own
// memory (defers them), where the holder reads them.
#include <algorithm>

#include "core/concat.hpp"
#include "transport/factories.hpp"
#include "transport/node/single_copy.hpp"

namespace parhelion {
namespace {

class Shared final : public SingleCopy {
 public:
  using SingleCopy::SingleCopy;

  // Late neighbors still write grants and read deferred messages here.
  ~Shared() override {
    if (number_ == 0 && !has_given_up()) return;
    release_memory(has_given_up() || std::ranges::any_of(slots_,
                                         [this](const auto& slot) { return given_up(slot); }),
        [this](std::vector<Awaited>& awaited) {
          for (const SingleCopySlot& slot : slots_) {
            if (slot.sends()) awaited.push_back({&slot.mine->grant.number, number_});
            if (slot.last_deferred > 0)
              awaited.push_back({&slot.mine->taken.value, slot.last_deferred});
          }
        });
  }

  void begin() override {
    start();
    waits_joined_ = joined_.empty() ? 0 : std::min(patience_, 100) + 20;
    if (told_ != granted_set()) tell_arrays();
    get_on();
  }

  void leave() override {
    waits_joined_ = 0;
    get_on();
    for (SingleCopySlot& slot : slots_)
      if (slot.waits(number_) && slot.may_be_deferred()) leave(slot);
    if (immediate_) return;
    queue_.wait();
    get_on();
  }

  int ready() override {
    get_on();
    return report_next(
        slots_, [this](const SingleCopySlot& slot) { return written(slot) >= number_; });
  }

  void deliver(int i, Reduction) override {
    SingleCopySlot& slot = slots_[i];
    if (slot.mine->left.is_deferred(number_, slot.one_way())) {
      take_left(slot, slot.mine->left, Reduction::replace);
      slot.taken = queue_.record();
      slot.taking = true;
      tell_taken(slot);
    }
    if (!slot.link->repeat.empty())
      queue_.enqueue(slot.link->repeat, arrays_.bases(), arrays_.bases());
  }

  bool finished() override {
    if (!granted_ || waits_joined_ > 0) get_on();
    bool all = granted_;
    for (SingleCopySlot& slot : slots_) {
      all = all && (!slot.taking || tell_taken(slot));
      if (!slot.sends()) continue;
      if (slot.waits(number_) && !put(slot) && runs_ahead(slot) && patience_ == 0) leave(slot);
      all = all && !slot.waits(number_) &&
            (!runs_ahead(slot) || has_deferred_slot(number_ + 1, granted(slot), true));
    }
    if (patience_ > 0) --patience_;
    return all;
  }

  std::string state(int i) const override {
    const SingleCopySlot& slot = slots_[i];
    const auto written = slot.mine->done.value.load(), granted = slot.mine->grant.number.load();
    const std::string begun = concat("begun number ", granted);
    if (slot.receives() && written < number_)
      return waits_for(slot, "write this rank's ghosts in exchange",
          concat("written number ", written, slot.sends() ? ", it has " + begun : std::string()));
    if (slot.waits(number_)) return waits_for(slot, "begin exchange", begun);
    if (runs_ahead(slot) && !has_deferred_slot(number_ + 1, granted, true))
      return waits_for(slot, "begin an earlier exchange than", begun);
    return {};
  }

 private:
  static std::uint64_t granted(const SingleCopySlot& slot) {
    return slot.mine->grant.number.load(std::memory_order_acquire);
  }
  static std::uint64_t written(const SingleCopySlot& slot) {
    return slot.mine->done.value.load(std::memory_order_acquire);
  }
  bool given_up(const SingleCopySlot& slot) const {
    return slot.waits(number_) || (slot.receives() && written(slot) < number_);
  }

  // A one-way sender waits only for a free slot for its next message.
  static bool runs_ahead(const SingleCopySlot& slot) {
    return slot.one_way() && slot.may_be_deferred();
  }

  // Grants once earlier work in the queue no longer uses the ghosts; copies where granted.
  void get_on() {
    if (!granted_ && queue_.is_done(begun_)) grant();
    if (waits_joined_ > 0) put_joined();
    for (SingleCopySlot& slot : slots_) {
      if (slot.waits(number_)) put(slot);
      if (slot.taking) tell_taken(slot);
    }
  }

  void grant() {
    granted_ = true;
    for (SingleCopySlot& slot : slots_)
      if (slot.receives()) slot.theirs->grant.number.store(number_, std::memory_order_release);
    wake(&SingleCopySlot::receives);
  }

  // One launch for all neighbors, if they grant at about the same time.
  void put_joined() {
    --waits_joined_;
    const auto is_granted = [this](const SingleCopySlot& slot) {
      return !slot.sends() || (slot.waits(number_) && !slot.copying && granted(slot) >= number_);
    };
    if (!std::ranges::all_of(slots_, is_granted)) return;
    waits_joined_ = 0;
    for (SingleCopySlot& slot : slots_)
      if (slot.sends() && !follow(slot, slot.mine->grant)) return;
    copy_joined(joined_.front());
    for (SingleCopySlot& slot : slots_)
      if (slot.sends()) copies(slot);
  }

  bool put(SingleCopySlot& slot) {
    if (slot.copying) return tell_copied(slot);
    if (waits_joined_ > 0 || granted(slot) < number_) return false;
    if (!follow(slot, slot.mine->grant)) return leave_granted(slot);
    queue_.enqueue(slot.copies, arrays_.bases(), slot.peer.plan.bases.data());
    return copies(slot);
  }

  bool copies(SingleCopySlot& slot) {
    slot.copied = queue_.record();
    slot.copying = true;
    return tell_copied(slot);
  }

  bool tell_copied(SingleCopySlot& slot) {
    if (!queue_.is_done(slot.copied)) return false;
    if (slot.leaving) note_left(slot, slot.theirs->left);
    slot.copying = slot.leaving = false;
    tell(slot);
    return true;
  }

  bool tell_taken(SingleCopySlot& slot) {
    if (!queue_.is_done(slot.taken)) return false;
    slot.taking = false;
    slot.theirs->taken.value.store(number_, std::memory_order_release);
    return true;
  }

  bool leave_granted(SingleCopySlot& slot) {
    leave(slot);
    if (slot.waits(number_) && !slot.copying) refuse_left(slot);
    return !slot.copying;
  }

  void tell_arrays() {
    told_ = granted_set();
    for (SingleCopySlot& slot : slots_)
      if (slot.receives()) slot.theirs->grant.version = told_;
  }

  void tell(SingleCopySlot& slot) {
    post(slot.theirs->done.value, number_, *slot.neighbor->mailbox);
    slot.put = number_;
  }

  // Without memory for the message, the neighbor gets it after its grant, when this rank is back.
  void leave(SingleCopySlot& slot) {
    if (slot.copying || !has_deferred_slot(number_, granted(slot), slot.one_way()) ||
        !pack_left(slot))
      return;
    slot.leaving = true;
    copies(slot);
  }

  std::uint64_t told_ = 0;  // set named in grants
  int waits_joined_ = 0;    // polls before it copies for each neighbor on its own
};

}  // namespace

std::unique_ptr<Transport> make_single_copy(const TransportContext& context,
    const std::string& name, std::shared_ptr<const ArrayAccess> access) {
  if (!context.forward()) return make_shared_reverse(context, name, std::move(access));
  return std::make_unique<Shared>(context, name, std::move(access));
}

}  // namespace parhelion
