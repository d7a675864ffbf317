#include <algorithm>
#include <utility>

#include "core/collective_step.hpp"
#include "core/environment.hpp"
#include "parhelion/core/aligned.hpp"
#include "parhelion/plan/executor.hpp"
#include "plan/chunks.hpp"
#include "transport/factories.hpp"
#include "transport/joined.hpp"
#include "transport/messenger.hpp"
#include "transport/orphaned_arrays.hpp"

namespace parhelion {
namespace {

// Large forward messages to another node go in chunks: packing, transfer and unpacking overlap.
// Linux delivers TCP data in packets of up to 64 KiB with headers: slightly more takes as long as
// two.
constexpr byte_count largest_piece = 56 << 10;
constexpr byte_count most_pieces = 64;

// For tests: applies to all neighbors.
byte_count piece_size_for_tests() {
  static const auto told = number_told("PARHELION_PIECE_BYTES").value_or(0);
  return told;
}

void shift(Program& program, byte_count offset, bool destination) {
  for (StridedOp& op : program.strided) (destination ? op.dst : op.src) += offset;
  for (IndexedOp& op : program.indexed) (destination ? op.dst : op.src) += offset;
  for (RunsOp& op : program.runs) (destination ? op.dst : op.src) += offset;
}

bool continues(const StridedOp& first, const StridedOp& next) {
  return first.dims + next.dims + first.negated + next.negated == 0 &&
         first.src_base == next.src_base && first.dst_base == next.dst_base &&
         first.src + first.width == next.src && first.dst + first.width == next.dst;
}

// Contiguous messages still need no copies.
void append(Program& all, Program more) {
  for (const StridedOp& op : more.strided)
    if (!all.strided.empty() && continues(all.strided.back(), op))
      all.strided.back().width += op.width;
    else all.strided.push_back(op);
  std::move(more.indexed.begin(), more.indexed.end(), std::back_inserter(all.indexed));
  std::move(more.runs.begin(), more.runs.end(), std::back_inserter(all.runs));
}

byte_count size_of_pieces(byte_count total) {
  const byte_count count = std::min((total + largest_piece - 1) / largest_piece, most_pieces);
  return (total + count - 1) / count;
}

std::vector<Chunk> joined(std::vector<Chunk> chunks, byte_count size, bool packing) {
  std::vector<Chunk> pieces;
  for (Chunk& chunk : chunks) {
    if (pieces.empty() || whole_lines(pieces.back().bytes) + chunk.bytes > size)
      pieces.emplace_back();
    Chunk& piece = pieces.back();
    const byte_count at = whole_lines(piece.bytes);
    shift(chunk.program, at, packing);
    append(piece.program, std::move(chunk.program));
    piece.bytes = at + chunk.bytes;
  }
  return pieces;
}

// Local: both ends compute the same chunks. Requires the communicator's node().
std::vector<Chunk> pieces_of(const Plan& plan, const LinkPlan& link, bool packing) {
  const byte_count asked = piece_size_for_tests(),
                   bytes = packing ? link.forward.send_bytes : link.forward.receive_bytes;
  if (asked == 0 && (bytes <= largest_piece || plan.communicator().node_rank(link.rank) >= 0))
    return {};
  std::vector<Chunk> chunks = chunks_of(plan, link, packing);
  return joined(std::move(chunks), asked > 0 ? asked : size_of_pieces(bytes), packing);
}

// Sends or receives the message without `copy` if it is one piece.
void stay_in_place(MessagePlace& place, const Contiguous& piece, const Program*& copy) {
  if (place.bytes == 0 || piece.bytes != place.bytes) return;
  place.piece = piece;
  if (place.in_array()) copy = nullptr;
}

struct Slot {
  Channel channel;
  const Program* pack;  // null: in place, or joined with others; so is `unpack`
  const Program* unpack;
  Event packed = {};
  bool arrived = false;
};

struct LinkState {
  const LinkPlan* link;
  std::vector<Chunk> sent = {}, received = {};  // empty: one chunk
  int slot = 0, slots = 1;                      // first, and how many
  int missing = 0;                              // slots without data
  bool receives = false;
  int unpacked_with = -1;  // number of the joined program, if one unpacks several messages
  bool in_pieces() const { return slots > 1; }
};

class MessageTransport final : public Transport {
 public:
  MessageTransport(const TransportContext& context, const MakeMessenger& make,
      const MessageTransportOptions& options)
      : plan_(context.plan), arrays_(context.arrays), queue_(context.queue),
        in_place_(context.has_reach && options.in_place && !options.on_device),
        forward_(context.forward()), mpi_(options.mpi), on_device_(options.on_device) {
    for (const LinkPlan* link : context.links) links_.push_back({link});
    for (LinkState& link : links_)
      add_slots(link, context.way(*link.link), options.pieces && forward_);
    if (on_device_) validate_together(plan_.communicator(), [this] { place_buffers(); });
    else place_buffers();
    if (!plan_.executor->is_immediate()) join_messages();
    messenger_ = make(context, channels());
  }
  ~MessageTransport() override {
    if (messenger_->settle()) return;
    orphan(std::move(buffer_));  // MPI may still read it
    orphan(std::move(shield_));
    orphan_arrays(arrays_);
  }

  void begin() override {
    ++number_;
    receiving_ = sending_ = false;
    packed_ = sent_ = 0;
    begun_ = queue_.record();
    for (Joined& each : unpacks_) each.missing = each.bases.size();
    if (!packs_.program.empty())
      queue_.enqueue(packs_.program, arrays_.bases(), packs_.bases.data());
    for (LinkState& link : links_) link.missing = 0;
    for (Slot& slot : slots_) {
      slot.arrived = slot.channel.receive.bytes == 0;
      links_[slot.channel.link].missing += !slot.arrived;
    }
    for (get_on(); packed_ < slots_.size(); get_on()) pack(slots_[packed_++]);
  }

  void leave() override { get_on(); }

  int ready() override {
    if (!get_on()) return -1;
    for (int i; (i = messenger_->test_receive()) >= 0;) {
      Slot& slot = slots_[i];
      LinkState& link = links_[slot.channel.link];
      slot.arrived = true;
      if (link.in_pieces()) unpack(i, Reduction::replace);
      if (--link.missing == 0) return slot.channel.link;
    }
    return -1;
  }

  void deliver(int number, Reduction reduction) override {
    const LinkState& link = links_[number];
    if (link.unpacked_with >= 0) {
      Joined& with = unpacks_[link.unpacked_with];
      if (--with.missing > 0) return;
      queue_.enqueue(with.program, with.bases.data(), arrays_.bases(), reduction);
      for (const LinkState& each : links_)
        if (forward_ && each.unpacked_with >= 0) repeat(each);
      return;
    }
    if (!link.in_pieces()) unpack(link.slot, reduction);
    if (forward_) repeat(link);
  }

  bool finished() override { return get_on() && messenger_->test_sends(); }

  int expected() const override {
    return std::ranges::count_if(links_, [](const LinkState& link) { return link.receives; });
  }

  std::string state(int number) const override {
    const LinkState& link = links_[number];
    for (int i = link.slot; i < link.slot + link.slots; ++i)
      if (const Slot& slot = slots_[i]; !slot.arrived)
        return waiting_text(slot.channel.receive.bytes, slot.channel.rank, number_);
    return {};
  }

  bool calls_mpi() const override { return mpi_; }

  /// Collective, of messages on a device. Throws Error, of kind system, on every rank unless MPI
  /// moves them between all neighbors.
  void try_out() {
    const Communicator& comm = plan_.communicator();
    const auto host = plan_.executor->allocate(bytes_);
    const auto on_host = [&](const MessagePlace& place) {
      return host.get() + (place.buffer - buffer_.get());
    };
    Program all;
    const auto copy = [&](std::byte* from, std::byte* to) {
      queue_.enqueue(all, &from, &to);
      queue_.wait();
    };
    const auto value = [](int from, int to, byte_count i) {
      return static_cast<std::byte>(1 + (i + i / 251 + 7 * from + 31 * to) % 253);
    };
    validate_together(comm, [&] {
      if (bytes_ == 0) return;
      all.add(StridedOp{.width = bytes_});
      plan_.executor->compile(all);
      std::fill_n(host.get(), bytes_, std::byte{0});
      for (const auto& [to, send, _, link] : channels())
        for (byte_count i = 0; i < send.bytes; ++i) on_host(send)[i] = value(comm.rank(), to, i);
      copy(host.get(), buffer_.get());
      shield_ = shield(buffer_.get(), shielded_bytes());
    });
    bool moved = move_once();
    validate_together(comm, [&] {
      if (!messenger_->settle()) moved = false;
      else shield_.reset();
      if (moved && bytes_ > 0) copy(buffer_.get(), host.get());
      for (const auto& [from, _, receive, link] : channels())
        for (byte_count i = 0; i < receive.bytes; ++i)
          moved = moved && on_host(receive)[i] == value(from, comm.rank(), i);
      if (!moved)
        throw Error(
            "transport device_mpi: this MPI does not move device memory between these ranks: use "
            "mpi, or an MPI that was built for this device",
            ErrorKind::system);
    });
  }

 private:
  // Sends and receives what the buffer has. Returns whether MPI has done it.
  bool move_once() {
    constexpr double most_s = 10;
    const auto receives = [](const Slot& slot) { return slot.channel.receive.bytes > 0; };
    auto missing = std::ranges::count_if(slots_, receives);
    try {
      messenger_->start_receives();
      for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].channel.send.bytes > 0) messenger_->start_send(static_cast<int>(i));
      messenger_->flush();
      PatientWait patience(plan_.communicator());
      for (const double start = MPI_Wtime(); MPI_Wtime() - start < most_s; patience.wait()) {
        while (messenger_->test_receive() >= 0) --missing;
        if (messenger_->test_sends() && missing == 0) return true;
      }
    } catch (const Error&) {  // of MPI; a lost rank is found again
    }
    return false;
  }

  std::vector<Channel> channels() const {
    std::vector<Channel> all;
    for (const Slot& slot : slots_) all.push_back(slot.channel);
    return all;
  }

  void repeat(const LinkState& link) {
    if (!link.link->repeat.empty())
      queue_.enqueue(link.link->repeat, arrays_.bases(), arrays_.bases());
  }

  void unpack(int i, Reduction reduction) {
    const Slot& slot = slots_[i];
    std::byte* const message[1] = {slot.channel.receive.buffer};
    if (slot.unpack != nullptr) queue_.enqueue(*slot.unpack, message, arrays_.bases(), reduction);
  }

  // Also for sends in place: the queue may still write the array.
  void pack(Slot& slot) {
    if (slot.channel.send.bytes == 0) return;
    if (slot.pack != nullptr) {
      std::byte* const message[1] = {slot.channel.send.buffer};
      queue_.enqueue(*slot.pack, arrays_.bases(), message);
    }
    slot.packed = queue_.record();
  }

  // Starts receives, and sends of packed slots in order. Returns whether all have started.
  bool get_on() {
    if (sending_) return true;
    if (!receiving_) {
      if (!queue_.is_done(begun_)) return false;
      messenger_->start_receives();
      receiving_ = true;
    }
    for (; sent_ < packed_; ++sent_) {
      const Slot& slot = slots_[sent_];
      if (slot.channel.send.bytes == 0) continue;
      if (!queue_.is_done(slot.packed)) return false;
      messenger_->start_send(static_cast<int>(sent_));
    }
    if (sent_ < slots_.size()) return false;
    messenger_->flush();
    return sending_ = true;
  }

  void add_slots(LinkState& state, const Way& way, bool in_pieces) {
    const int number = &state - links_.data();
    state.slot = slots_.size();
    state.receives = way.receive_bytes > 0;
    if (in_pieces) {
      state.sent = pieces_of(plan_, *state.link, true);
      state.received = pieces_of(plan_, *state.link, false);
      for (auto* pieces : {&state.sent, &state.received})
        for (Chunk& piece : *pieces) plan_.executor->compile(piece.program);
    }
    state.slots = std::max({state.sent.size(), state.received.size(), std::size_t{1}});
    // The direction with fewer chunks has empty slots; short messages are whole in the first.
    static const Chunk none;
    const auto chunk = [](const std::vector<Chunk>& pieces, std::size_t p, byte_count bytes,
                           const Program& program) {
      if (p == 0 && pieces.empty()) return std::pair(bytes, &program);
      const Chunk& piece = p < pieces.size() ? pieces[p] : none;
      return std::pair(piece.bytes, &piece.program);
    };
    for (std::size_t p = 0; p < static_cast<std::size_t>(state.slots); ++p) {
      const auto [sent, pack] = chunk(state.sent, p, way.send_bytes, way.pack);
      const auto [received, unpack] = chunk(state.received, p, way.receive_bytes, way.unpack);
      Slot& slot =
          slots_.emplace_back(Slot{{state.link->rank, {sent}, {received}, number}, pack, unpack});
      if (!in_place_) continue;
      stay_in_place(slot.channel.send, contiguous_source(*pack), slot.pack);
      // A reverse exchange combines received values.
      if (forward_)
        stay_in_place(slot.channel.receive, contiguous_destination(*unpack), slot.unpack);
    }
  }

  byte_count shielded_bytes() const { return (bytes_ + host_page - 1) / host_page * host_page; }
  // Shares no page of the host with other memory.
  std::shared_ptr<std::byte> shielded_memory() const {
    if (bytes_ == 0) return nullptr;
    const auto memory = allocate_on_device(*plan_.executor, shielded_bytes() + host_page);
    const auto first = reinterpret_cast<std::uintptr_t>(memory.get());
    return {memory, memory.get() + (host_page - first % host_page) % host_page};
  }

  void place_buffers() {
    byte_count total = 0;
    const auto offset_of = [&](const MessagePlace& place) {
      return std::exchange(total, total + (place.in_array() ? 0 : whole_lines(place.bytes)));
    };
    for (const Slot& slot : slots_) offset_of(slot.channel.send), offset_of(slot.channel.receive);
    bytes_ = std::exchange(total, 0);
    buffer_ = on_device_ ? shielded_memory() : plan_.executor->allocate(bytes_);
    for (Slot& slot : slots_)
      for (MessagePlace* place : {&slot.channel.send, &slot.channel.receive})
        place->buffer = buffer_.get() + offset_of(*place);
  }

  // One launch packs all whole messages, and one unpacks those of a forward exchange. In a reverse
  // one, those that combine in direct succession.
  void join_messages() {
    const LinkPlan* before = nullptr;
    for (Slot& slot : slots_) {
      LinkState& link = links_[slot.channel.link];
      if (link.in_pieces()) continue;
      if (slot.pack != nullptr)
        packs_.take(*std::exchange(slot.pack, nullptr), {slot.channel.send.buffer}, false);
      if (!link.receives || slot.unpack == nullptr) continue;
      if (unpacks_.empty() || (!forward_ && combines_between(plan_, *before, *link.link)))
        unpacks_.emplace_back();
      before = link.link;
      link.unpacked_with = unpacks_.size() - 1;
      Joined& unpacks = unpacks_.back();
      unpacks.take(*std::exchange(slot.unpack, nullptr), {slot.channel.receive.buffer}, true);
    }
    packs_.compile(*plan_.executor);
    for (Joined& each : unpacks_) each.compile(*plan_.executor);
  }

  const Plan& plan_;
  const BoundArrays& arrays_;
  Queue& queue_;
  bool in_place_, forward_, mpi_, on_device_;
  std::vector<LinkState> links_;
  std::vector<Slot> slots_;
  byte_count bytes_ = 0;  // of the buffer
  std::shared_ptr<std::byte> buffer_;
  std::shared_ptr<void> shield_;  // while MPI may touch the buffer in a trial
  Joined packs_;                  // of whole messages, on a device
  std::vector<Joined> unpacks_;
  std::unique_ptr<Messenger> messenger_;
  std::uint64_t number_ = 0;
  Event begun_;  // after earlier work in the queue: arrays may be received into
  bool receiving_ = false, sending_ = false;  // all started
  std::size_t packed_ = 0, sent_ = 0;         // slots
};

}  // namespace

std::unique_ptr<Transport> make_message_transport(
    const TransportContext& context, const MakeMessenger& make, MessageTransportOptions options) {
  auto made = std::make_unique<MessageTransport>(context, make, options);
  if (options.on_device) made->try_out();
  return made;
}

}  // namespace parhelion
