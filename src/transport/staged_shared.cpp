// Transport staged_shared: packs into a ring in the receiver's memory, and unpacks from it. It
// takes any array and never waits for the reader.
//
// Each link has two slots, three if only one rank sends. Exchange n uses slot n mod 2 (or 3). A
// slot is a row of chunks, each behind a number that becomes n when the chunk is complete.
// The slot is free when the reader has finished exchange n−2 (or 3). If both ranks send, the
// reader's own chunk n−1 implies it. A one-way reader acknowledges on a line in the sender's
// memory; the sender's exchange n ends when n−2 is acknowledged. So begin always finds a free slot.
//
// Packing and unpacking alternate by chunk: a ghost often shares a cache line with an owned cell
// packed just before. Lines last held by the other core take 50 to 250 ns, so they are prefetched:
// between far cores an exchange takes 15 to 25 % less.
//
// A reverse message is one chunk, which stays in its slot until combined.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/concat.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/chunks.hpp"
#include "transport/factories.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {
namespace {

constexpr byte_count line = 64;
constexpr byte_count small_offset = 16;  // of a chunk on its number's line

constexpr byte_count payload_offset(byte_count bytes) {
  return bytes <= line - small_offset ? small_offset : line;
}
std::atomic<std::uint64_t>& number_at(std::byte* slot) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(slot);
}

// One-way, three suffice: an exchange ends when the last but one is read.
constexpr std::uint64_t slot_count(bool one_way) { return one_way ? 3 : 2; }
constexpr std::uint64_t unread_at_end = 2;

constexpr byte_count ring_bytes(byte_count slot, bool one_way) {
  return line + slot_count(one_way) * slot;
}

// Chunks of long messages go through a window: a few places that stay in both ranks' caches.
// Without a free place they go into the slot: the sender never waits. One rank's end, which fills
// or empties the places in order; both have equally many.
class Window {
 public:
  Window() = default;
  // With 1 MiB of L2 cache, makes messages of 1.3 MB 10 to 25 % faster, below 0.9 MB up to 4 %
  // slower.
  Window(byte_count slot, byte_count chunk) : size_(whole_lines(chunk)) {
    constexpr byte_count worthwhile = 1 << 20, whole = 256 << 10;
    if (slot > worthwhile && size_ <= whole / 4)
      places_ = std::bit_floor(static_cast<std::uint64_t>(whole / size_));
  }
  byte_count bytes() const { return places_ == 0 ? 0 : line + places_ * size_; }
  void open(std::byte* memory) { memory_ = memory; }

  // For the sender. Acquires: the reader's accesses to the place happened before.
  bool has_room() {
    if (filled_ - emptied_ < places_) return true;
    if (places_ == 0) return false;
    emptied_ = count().load(std::memory_order_acquire);
    return filled_ - emptied_ < places_;
  }
  std::byte* next() const { return place(filled_); }
  std::byte* fill() { return place(filled_++); }
  // For the reader.
  std::byte* front() const { return place(emptied_); }
  std::byte* second() const { return place(emptied_ + 1); }
  void empty() { count().store(++emptied_, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t>& count() const {
    return reinterpret_cast<SequenceLine*>(memory_)->value;
  }
  std::byte* place(std::uint64_t i) const { return memory_ + line + (i & (places_ - 1)) * size_; }

  std::uint64_t places_ = 0;
  byte_count size_ = 0;  // of a place
  std::byte* memory_ = nullptr;
  std::uint64_t filled_ = 0,
                emptied_ = 0;  // places; the sender's emptied_ may be stale
};

// Flag of a chunk's number: the chunk is in the window.
constexpr std::uint64_t in_window = std::uint64_t{1} << 63;

constexpr std::size_t ahead = 3;         // packed before the first is unpacked; more was not faster
constexpr byte_count prefetched = 4096;  // of a chunk; hardware prefetches the rest

template <bool to_write>
void prefetch(const std::byte* from, byte_count bytes) {
  for (const std::byte* const end = from + std::min(bytes, prefetched); from < end; from += line) {
#if defined(__x86_64__)  // compilers emit prefetchw for few targets; other processors ignore it
    if (to_write) asm volatile("prefetchw %0" : : "m"(*from));
    else
#endif
      __builtin_prefetch(from, to_write);
  }
}

// Chunks of one side and their places in a slot.
struct Chunks {
  struct Placed {
    byte_count offset, payload, bytes;
    Program program;
    bool windowed = false;
    Event packed = {};
  };
  std::vector<Placed> chunks;
  byte_count bytes = 0;  // of a slot
  Window window;

  Chunks(std::vector<Chunk> all, bool with_window) {
    byte_count longest = 0;
    for (Chunk& chunk : all) {
      longest = std::max(longest, chunk.bytes);
      chunks.push_back(
          {bytes, bytes + payload_offset(chunk.bytes), chunk.bytes, std::move(chunk.program)});
      bytes += whole_lines(payload_offset(chunk.bytes) + chunk.bytes);
    }
    if (with_window) window = {bytes, longest};
  }
  std::size_t size() const { return chunks.size(); }
};

std::vector<Chunk> chunks_of(const TransportContext& context, const LinkPlan& link, bool sent) {
  if (context.forward()) {
    std::vector<Chunk> chunks = chunks_of(context.plan, link, sent);
    for (Chunk& chunk : chunks) context.plan.executor->compile(chunk.program);
    return chunks;
  }
  const auto& [send_bytes, receive_bytes, pack, unpack] = link.reverse;
  const byte_count bytes = sent ? send_bytes : receive_bytes;
  return bytes == 0 ? std::vector<Chunk>{} : std::vector<Chunk>{{bytes, sent ? pack : unpack}};
}

struct Ring {
  const LinkPlan* link;
  Chunks send, receive;
  NodeNeighbor* neighbor = nullptr;
  std::byte* here = nullptr;         // neighbor's acknowledgement, slots, window
  std::shared_ptr<std::byte> there;  // this rank's
  std::size_t packed = 0, sent = 0,
              received = 0;  // chunks of this exchange; sent: signaled
  Event read;                // after the copies that read the slot
  bool unread = false;       // not yet acknowledged
  bool reported = true;

  Ring(const TransportContext& context, const LinkPlan& which)
      : link(&which), send(chunks_of(context, which, true), context.plan.executor->is_immediate()),
        receive(chunks_of(context, which, false), context.plan.executor->is_immediate()) {}
  bool may_receive() const {
    return received < receive.size() && (packed == send.size() || packed > received + ahead);
  }
  bool one_way() const { return (send.size() > 0) != (receive.size() > 0); }
  std::uint64_t slots() const { return slot_count(one_way()); }
  std::byte* in(std::uint64_t number) const {
    return here + line + number % slots() * receive.bytes;
  }
  std::byte* out(std::uint64_t number) const {
    return there.get() + line + number % slots() * send.bytes;
  }
  std::uint64_t last_sent() const {
    std::uint64_t last = 0;
    for (std::uint64_t slot = 0; slot < slots(); ++slot)
      last = std::max(last, number_at(in(slot)).load() & ~in_window);
    return last;
  }
  byte_count bytes_here() const {
    return ring_bytes(receive.bytes, one_way()) + receive.window.bytes();
  }
  /// Whether the sender may end exchange `number`.
  bool read_enough(std::uint64_t number) const {
    return send.size() == 0 || !one_way() ||
           read_there().load(std::memory_order_acquire) + unread_at_end >= number;
  }
  bool given_up() const { return received < receive.size() || unread; }
  bool is_late() const { return sent < packed || unread; }
  std::atomic<std::uint64_t>& read_there() const { return number_at(here); }
  std::atomic<std::uint64_t>& read_here() const { return number_at(there.get()); }
};

class StagedShared final : public Transport {
 public:
  explicit StagedShared(const TransportContext& context)
      : arrays_(context.arrays), queue_(context.queue), direction_(context.direction),
        node_(context.plan.communicator().shared_state<NodeContext>()) {
    for (const LinkPlan* link : context.links) rings_.emplace_back(context, *link);
    shake_hands(context);
  }

  // Late readers still acknowledge here; after a failure, senders may still write.
  ~StagedShared() override {
    if (has_given_up() || (number_ > 0 && std::ranges::any_of(rings_, &Ring::given_up))) {
      orphan(memory_);
      return;
    }
    if (number_ == 0) return;
    orphan_until_done(memory_, [this](std::vector<Awaited>& awaited) {
      for (const Ring& ring : rings_)
        if (ring.send.size() > 0 && ring.one_way())
          awaited.push_back({&ring.read_there(), number_});
    });
  }

  void begin() override {
    ++number_;
    for (Ring& ring : rings_) {
      ring.packed = ring.sent = ring.received = 0;
      ring.reported = ring.receive.size() == 0;
    }
    while (send_next()) receive_what_came();
  }
  void leave() override { tell_late(); }

  int ready() override {
    tell_late();
    while (receive_what_came()) {
    }
    return report_next(
        rings_, [](const Ring& ring) { return ring.received == ring.receive.size(); });
  }

  void deliver(int slot, Reduction reduction) override {
    Ring& ring = rings_[slot];
    prefetch_first_to_fill(ring);
    if (!forward()) combine(ring, reduction);
    else if (!ring.link->repeat.empty())
      queue_.enqueue(ring.link->repeat, arrays_.bases(), arrays_.bases());
    if (!ring.one_way()) return;  // the next message acknowledges
    ring.read = queue_.record();
    ring.unread = true;
    tell(ring);
  }

  bool finished() override {
    tell_late();
    return std::ranges::all_of(
        rings_, [this](const Ring& ring) { return !ring.is_late() && ring.read_enough(number_); });
  }

  int expected() const override {
    return std::ranges::count_if(rings_, [](const Ring& r) { return r.receive.size() > 0; });
  }

  std::string state(int slot) const override {
    const Ring& ring = rings_[slot];
    const std::string with = "rank " + std::to_string(ring.link->rank),
                      number = std::to_string(number_);
    if (ring.received < ring.receive.size())
      return concat(
          waiting_text(ring.link->way(direction_).receive_bytes, ring.link->rank, number_),
          " (it has sent number ", ring.last_sent(), ")");
    if (!ring.read_enough(number_))
      return concat("waiting for ", with, " to read an earlier message than number ", number,
          " (it has read number ", ring.read_there().load(), ")");
    return {};
  }

  NodeContext* node() const override { return &node_; }

 private:
  bool forward() const { return direction_ == Direction::forward; }

  // Sends each neighbor one chunk. Returns false when all are sent.
  bool send_next() {
    bool moved = false;
    for (Ring& ring : rings_) {
      if (ring.packed == ring.send.size()) continue;
      pack(ring);
      tell(ring);
      moved = true;
    }
    return moved;
  }

  // Receives one chunk from each neighbor. Returns whether any had arrived.
  bool receive_what_came() {
    bool moved = false;
    for (Ring& ring : rings_)
      if (ring.may_receive()) moved = receive_next(ring) || moved;
    return moved;
  }

  void pack(Ring& ring) {
    Chunks::Placed& chunk = ring.send.chunks[ring.packed++];
    std::byte* const slot = ring.out(number_);
    chunk.windowed = ring.send.window.has_room();
    std::byte* const message[1] = {chunk.windowed ? ring.send.window.fill() : slot + chunk.payload};
    prefetch_next_to_fill(ring, slot);
    queue_.enqueue(chunk.program, arrays_.bases(), message);
    chunk.packed = queue_.record();
  }

  void tell_late() {
    for (Ring& ring : rings_)
      if (ring.is_late()) tell(ring);
  }

  // Signals packed chunks in order, and the acknowledgement.
  void tell(Ring& ring) {
    for (; ring.sent < ring.packed && queue_.is_done(ring.send.chunks[ring.sent].packed);)
      tell_chunk(ring);
    if (!ring.unread || !queue_.is_done(ring.read)) return;
    ring.unread = false;
    post(ring.read_here(), number_, *ring.neighbor->mailbox);
  }
  void tell_chunk(Ring& ring) {
    const Chunks::Placed& chunk = ring.send.chunks[ring.sent++];
    auto& number = number_at(ring.out(number_) + chunk.offset);
    const std::uint64_t told = chunk.windowed ? number_ | in_window : number_;
    // Only the last chunk wakes sleepers: a look for them costs a full fence.
    if (ring.sent == ring.send.size()) post(number, told, *ring.neighbor->mailbox);
    else number.store(told, std::memory_order_release);
  }

  bool receive_next(Ring& ring) {
    const Chunks::Placed& chunk = ring.receive.chunks[ring.received];
    std::byte* const slot = ring.in(number_);
    const std::uint64_t told = number_at(slot + chunk.offset).load(std::memory_order_acquire);
    if ((told & ~in_window) != number_) return false;
    const bool windowed = (told & in_window) != 0;
    std::byte* const message[1] = {windowed ? ring.receive.window.front() : slot + chunk.payload};
    prefetch_next_to_read(ring, slot);
    if (ring.received == 0) prefetch<false>(message[0], chunk.bytes);
    if (forward()) queue_.enqueue(chunk.program, message, arrays_.bases());
    if (windowed) ring.receive.window.empty();
    ++ring.received;
    return true;
  }

  // Reverse messages never use the window.
  void combine(const Ring& ring, Reduction reduction) const {
    const Chunks::Placed& whole = ring.receive.chunks.front();
    std::byte* const message[1] = {ring.in(number_) + whole.payload};
    queue_.enqueue(whole.program, message, arrays_.bases(), reduction);
  }

  void prefetch_next_to_fill(Ring& ring, const std::byte* slot) const {
    if (ring.packed == ring.send.size()) return;
    const Chunks::Placed& next = ring.send.chunks[ring.packed];
    prefetch<true>(slot + next.offset, line);
    prefetch<true>(
        ring.send.window.has_room() ? ring.send.window.next() : slot + next.payload, next.bytes);
  }

  // The reader polls the number's line, but not these.
  void prefetch_first_to_fill(const Ring& ring) const {
    if (ring.send.size() == 0) return;
    const Chunks::Placed& first = ring.send.chunks.front();
    if (first.payload == first.offset + line)
      prefetch<true>(ring.out(number_ + 1) + first.payload, first.bytes);
  }

  void prefetch_next_to_read(const Ring& ring, std::byte* slot) const {
    if (ring.received + 1 == ring.receive.size()) return;
    const Chunks::Placed& next = ring.receive.chunks[ring.received + 1];
    const std::uint64_t told = number_at(slot + next.offset).load(std::memory_order_relaxed);
    if (told == number_) prefetch<false>(slot + next.payload, next.bytes);
    else if (told == (number_ | in_window))
      prefetch<false>(ring.receive.window.second(), next.bytes);
  }

  void allocate() {
    byte_count total = 0;
    for (const Ring& ring : rings_) total += ring.bytes_here();
    memory_ = make_lines_of(total);
    std::byte* next = memory_.get();
    for (Ring& ring : rings_) {
      ring.here = next;
      ring.receive.window.open(next + ring_bytes(ring.receive.bytes, ring.one_way()));
      next += ring.bytes_here();
    }
  }

  std::vector<Words> write_headers() {
    allocate();
    std::vector<Words> headers;
    for (const Ring& ring : rings_) {
      Words& header = headers.emplace_back();
      put_place(header, node_.mailbox_place());
      put_place(header, describe_place(ring.here));
      header.push_back(ring.receive.size());
      header.push_back(ring.receive.bytes);
    }
    return headers;
  }

  void shake_hands(const TransportContext& context) {
    exchange_headers(
        context, [this] { return write_headers(); },
        [&](std::size_t i, WordReader& header) {
          Ring& ring = rings_[i];
          ring.neighbor = &node_.meet(ring.link->rank, get_place(header));
          ring.there = map_place(get_place(header));
          if (header.next() != static_cast<global_index>(ring.send.size()) ||
              header.next() != ring.send.bytes)
            refuse("rank ", ring.link->rank,
                " cuts messages differently: run the same version on every rank");
          ring.send.window.open(ring.there.get() + ring_bytes(ring.send.bytes, ring.one_way()));
        });
  }

  const BoundArrays& arrays_;
  Queue& queue_;
  const Direction direction_;
  NodeContext& node_;
  std::vector<Ring> rings_;
  std::shared_ptr<std::byte> memory_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_staged_shared(const TransportContext& context) {
  return std::make_unique<StagedShared>(context);
}

}  // namespace parhelion
