// What one node owes another, collected: few messages, each cell in them once. Transports node_aware(mpi), node_aware(ucx).
//
// Per exchange: each rank packs what it owes the other node (its Bundle) into memory of the rank that carries it (`Sent`), and tells it. When all parts of a
// message are there the carrier sends them as they lie. The rank that receives them there has node-shared memory for it (`Got`), tells all that wait, and each
// unpacks its own ghosts out of it. So a value is copied twice, as in any exchange of messages, by the rank that has it and the one that needs it; what
// is saved are messages, and cells that several ranks of the other node need.
//
// Memory has two slots, exchange n uses slot n mod 2. A rank ends exchange n when the messages that it contributes to have left in n − 1, and whoever
// carries one when that has left and, of those that it received, n − 1 has been read: so begin always finds a free slot.
//
// Ranks depend on those that carry for them: they must be in the exchange, too, and stay until it ends there (docs/transports.md).
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

#include "core/rank_names.hpp"
#include "plan/shared_run.hpp"
#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/node/handshake.hpp"
#include "transport/node/node_context.hpp"
#include "transport/node/slots.hpp"
#include "transport/node_aware/bundle.hpp"
#include "transport/node_aware/routes.hpp"
#include "transport/split.hpp"

namespace parhelion {
namespace {

// Two numbers that one rank writes and one polls.
struct alignas(64) Told {
    std::atomic<std::uint64_t> number{0};  ///< its part of this exchange is there; it has read the message of this exchange
    std::atomic<std::uint64_t> over{0};    ///< it has ended this exchange, and looks at nothing here before it begins the next
};

// A message in its carrier's memory: what the carrier tells, what each rank of the node tells, two slots.
struct SliceMemory {
    std::byte* start = nullptr;
    std::size_t ranks = 0;  // of the node
    byte_count bytes = 0;

    static byte_count size(std::size_t ranks, byte_count bytes) {
        return static_cast<byte_count>((ranks + 1) * sizeof(Told)) + 2 * whole_lines(bytes);
    }
    void construct() const {
        for (std::size_t i = 0; i <= ranks; ++i) new (start + i * sizeof(Told)) Told;  // recycled memory has old numbers
    }
    Told& carrier() const { return *reinterpret_cast<Told*>(start); }
    Told& rank(int node_rank) const { return reinterpret_cast<Told*>(start)[1 + node_rank]; }
    std::byte* slot(std::uint64_t number) const {
        return start + static_cast<byte_count>((ranks + 1) * sizeof(Told)) + static_cast<byte_count>(number % 2) * whole_lines(bytes);
    }
};

// Messages are named by the other node and their number, as it leaves or comes.
struct SliceName {
    int node = 0, slice = 0;
    bool comes = false;
    friend auto operator<=>(const SliceName&, const SliceName&) = default;
};

// To a node: this rank's part, and whom it tells.
struct Given {
    Bundle bundle;
    SliceName name;
    byte_count offset = 0;
    NodeNeighbor* carrier = nullptr;  // null: this rank itself
    SliceMemory memory;
    std::shared_ptr<std::byte> keep;
};

// This rank sends it for others.
struct Sent {
    SliceName name;
    int to = 0, channel = 0;
    SliceMemory memory;
    std::vector<int> from;  // ranks on the node
    std::vector<NodeNeighbor*> neighbors;
    bool started = true;
};

// This rank receives it for others.
struct Got {
    SliceName name;
    int from = 0, channel = 0;
    SliceMemory memory;
    std::vector<int> readers;
    std::vector<NodeNeighbor*> neighbors;
    bool arrived = true;
};

// This rank's ghosts are in it.
struct Read {
    SliceName name;
    int carrier_rank = 0;
    NodeNeighbor* carrier = nullptr;
    SliceMemory memory;
    std::shared_ptr<std::byte> keep;
    int slots = 0, left = 0;
};

struct Slot {
    std::size_t read = 0;
    FromBundle from;
    bool receives = false, reported = true;
};

// What a rank tells of another node's side of a link.
struct Side {
    std::vector<int> candidates;
    std::vector<byte_count> slices;
    bool is_known = false;
};

using MakeNodeMessenger = std::function<std::unique_ptr<Messenger>(const TransportContext&, std::vector<Channel>)>;

class NodeAware final : public Transport {
public:
    NodeAware(const TransportContext& context, const MakeNodeMessenger& make)
        : plan_(context.plan), arrays_(context.arrays), direction_(context.direction), comm_(context.plan.communicator()),
          node_(comm_.shared_state<NodeContext>()), links_(context.links), slots_(context.links.size()) {
        meet_node();
        learn_nodes(context);
        bundle();
        make_routes_of_node();
        tell_neighbors(context);
        validate_together(comm_, [&] { allocate(); });
        find_memory();
        for (auto& messenger : messengers_) messenger = make_messenger(context, make);
    }

    // Whoever is late reads, and looks at numbers, yet. Of an exchange that was given up anybody may do anything.
    ~NodeAware() override {
        const bool settled = std::ranges::all_of(messengers_, [](const auto& each) { return each == nullptr || each->settle(); });
        if (number_ == 0 && settled) return;
        if (!settled || !over_) {
            leave_behind(memory_);
            return;
        }
        std::vector<Awaited> awaited;
        for (const Sent& sent : sent_)
            for (const int rank : sent.from) awaited.push_back({&sent.memory.rank(rank).over, number_});
        for (const Got& got : got_)
            for (const int rank : got.readers) awaited.push_back({&got.memory.rank(rank).over, number_});
        leave_behind_until(memory_, std::move(awaited));
    }

    void begin() override {
        ++number_;
        all_sent_ = sent_.empty();
        over_ = false;
        messenger().start_receives();
        for (Sent& sent : sent_) sent.started = false;
        for (Got& got : got_) got.arrived = false;
        for (Read& read : reads_) read.left = read.slots;
        for (Slot& slot : slots_) slot.reported = !slot.receives;
        for (const Given& given : given_) {
            given.bundle.pack(plan_, arrays_.bases(), given.memory.slot(number_) + given.offset);
            tell(given.memory.rank(node_rank_).number, given.carrier);
        }
        get_on();
    }

    int ready() override {
        get_on();
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            Slot& slot = slots_[i];
            if (slot.reported || !has_come(reads_[slot.read])) continue;
            slot.reported = true;
            return static_cast<int>(i);
        }
        return -1;
    }

    void deliver(int i, Reduction reduction) override {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        Read& read = reads_[slot.read];
        std::byte* const message = read.memory.slot(number_) + slot.from.offset;
        if (direction_ == Direction::forward) {
            run_shared(plan_, slot.from.program, &message, arrays_.bases());
            run(links_[static_cast<std::size_t>(i)]->repeat, arrays_.bases(), arrays_.bases());
        } else {
            reduce(slot.from.program, &message, arrays_.bases(), reduction);
        }
        if (--read.left == 0) tell(read.memory.rank(node_rank_).number, read.carrier);
    }

    bool finished() override {
        get_on();
        if (!all_sent_ || !may_leave()) return false;
        if (!std::exchange(over_, true)) tell_over();
        return true;
    }

    int expected() const override {
        return static_cast<int>(std::ranges::count_if(slots_, [](const Slot& slot) { return slot.receives; }));
    }

    std::string state(int i) const override {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        if (slot.receives && !has_come(reads_[slot.read])) return waits_for(reads_[slot.read]);
        for (const Sent& sent : sent_)
            if (!sent.started) return waits_for_parts(late(sent.name, sent.memory, number_), number_);
        for (const Given& given : given_)
            if (!has_left(given)) return waits_to_leave(given);
        return {};
    }

    std::vector<NodeTraffic> traffic() const override {
        std::vector<NodeTraffic> all;
        for (const Route& route : routes_)
            all.push_back({route.node, route.pairs, route.bytes_in_pairs, static_cast<std::int64_t>(route.slices.size()),
                           std::accumulate(route.slices.begin(), route.slices.end(), byte_count{0})});
        return all;
    }
    NodeContext* node() const override { return &node_; }
    bool passes_on() const override { return must_poll(); }
    bool must_poll() const override { return !sent_.empty() || !got_.empty(); }

private:
    Messenger& messenger() { return *messengers_[number_ % 2]; }
    int rank_of(const NodeNeighbor* carrier) const { return carrier == nullptr ? comm_.rank() : carrier->rank; }

    // A number that another rank polls, or this one where nobody else does.
    void tell(std::atomic<std::uint64_t>& line, NodeNeighbor* to) const {
        if (to == nullptr) line.store(number_, std::memory_order_release);
        else post(line, number_, *to->postbox);
    }
    void tell_all(std::atomic<std::uint64_t>& line, const std::vector<NodeNeighbor*>& all) const {
        line.store(number_, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (NodeNeighbor* each : all) wake_if_asleep(*each->postbox);
    }

    bool has_come(const Read& read) const { return read.memory.carrier().number.load(std::memory_order_acquire) >= number_; }
    bool has_left(const Given& given) const { return given.memory.carrier().number.load(std::memory_order_acquire) + 1 >= number_; }

    // What this rank carries.
    void get_on() {
        for (Sent& sent : sent_)
            if (!sent.started && has_all(sent)) {
                sent.started = true;
                messenger().start_send(sent.channel);
            }
        for (int channel; missing_messages() && (channel = messenger().test_receive()) >= 0;)
            for (Got& got : got_)
                if (got.channel == channel) {
                    got.arrived = true;
                    tell_all(got.memory.carrier().number, got.neighbors);
                }
        if (!all_sent_ && std::ranges::all_of(sent_, &Sent::started) && messenger().test_sends()) {
            all_sent_ = true;
            for (const Sent& sent : sent_) tell_all(sent.memory.carrier().number, sent.neighbors);
        }
    }
    bool missing_messages() const { return !std::ranges::all_of(got_, &Got::arrived); }
    bool has_all(const Sent& sent) const {
        return std::ranges::all_of(sent.from, [&](int rank) { return sent.memory.rank(rank).number.load(std::memory_order_acquire) >= number_; });
    }

    bool may_leave() const {
        const auto was_read = [&](const Got& got) {
            return std::ranges::all_of(got.readers, [&](int rank) { return got.memory.rank(rank).number.load(std::memory_order_acquire) + 1 >= number_; });
        };
        return !missing_messages() && std::ranges::all_of(got_, was_read) && std::ranges::all_of(given_, [this](const Given& given) { return has_left(given); });
    }
    // From here on this rank looks at nobody's numbers.
    void tell_over() const {
        for (const Given& given : given_) given.memory.rank(node_rank_).over.store(number_, std::memory_order_release);
        for (const Read& read : reads_) read.memory.rank(node_rank_).over.store(number_, std::memory_order_release);
    }
    std::string waits_for(const Read& read) const {
        std::vector<int> senders = sides_.at(read.name.node).candidates;
        std::ranges::sort(senders);
        return "waiting for what " + named_ranks(senders) + " of another node send together in exchange number " + std::to_string(number_) + ", which rank " +
               std::to_string(read.carrier_rank) + " receives (it has told of number " + std::to_string(read.memory.carrier().number.load()) + ")";
    }
    // Ranks of this node whose part of a message is not there yet.
    std::vector<int> late(const SliceName& name, const SliceMemory& memory, std::uint64_t number) const {
        std::vector<int> ranks;
        for (const Route::Part& part : route_to(name.node).parts)
            if (part.slice == name.slice && memory.rank(part.node_rank).number.load() < number) ranks.push_back(ranks_[static_cast<std::size_t>(part.node_rank)]);
        return ranks;
    }
    static std::string waits_for_parts(const std::vector<int>& ranks, std::uint64_t number) {
        return "waiting for " + named_ranks(ranks) + " of this node to begin exchange number " + std::to_string(number);
    }
    std::string waits_to_leave(const Given& given) const {
        const std::uint64_t before = number_ - 1;
        if (const std::vector<int> ranks = late(given.name, given.memory, before); !ranks.empty()) return waits_for_parts(ranks, before);
        return "waiting for rank " + std::to_string(rank_of(given.carrier)) + " of this node to send what it collects for the node of rank " +
               std::to_string(given.name.node);
    }

    // Set-up, in this order. What the node's ranks tell is gathered at its first rank and spread: no rank sends more than a few letters, none
    // knows of a node with which its own has nothing to do.
    void meet_node() {
        Words mine{comm_.rank()};
        put_place(mine, node_.postbox_place());
        for (const Words& words : tell_node(comm_.node(), mine)) {
            WordReader reader(words, "rank on this node");
            ranks_.push_back(reader.next_in<int>(0, comm_.size() - 1));
            postboxes_.push_back(get_place(reader));
        }
        node_rank_ = comm_.node_rank(comm_.rank());
    }

    void learn_nodes(const TransportContext& context) {
        node_of_.resize(links_.size());
        exchange_letters(context, std::vector<Words>(links_.size(), Words{ranks_.front()}),
                         [&](std::size_t i, WordReader& letter) { node_of_[i] = letter.next_in<int>(0, comm_.size() - 1); });
        for (std::size_t i = 0; i < links_.size(); ++i) links_to_[node_of_[i]].push_back(i);
    }

    void bundle() {
        for (const auto& [node, which] : links_to_) {
            std::vector<const LinkPlan*> links;
            for (const std::size_t i : which) links.push_back(links_[i]);
            bundles_.emplace(node, Bundle(plan_, direction_, std::move(links)));
        }
    }

    void make_routes_of_node() {
        Words mine;
        for (const auto& [node, which] : links_to_) {
            Owed owed{node, bundles_.at(node).bytes(), 0, 0};
            for (const std::size_t i : which)
                if (const byte_count bytes = links_[i]->way(direction_).send_bytes; bytes > 0) ++owed.pairs, owed.bytes_in_pairs += bytes;
            owed.put(mine);
        }
        std::vector<std::vector<Owed>> owed;
        for (const Words& words : tell_node(comm_.node(), mine)) {
            WordReader reader(words, "what a rank on this node owes");
            for (owed.emplace_back(); !reader.at_end();) owed.back().push_back(Owed::get(reader));
        }
        routes_ = make_routes(ranks_, owed, Bundle::alignment(plan_, direction_));
    }
    const Route& route_to(int node) const {
        return *std::ranges::find_if(routes_, [node](const Route& route) { return route.node == node; });
    }

    void tell_neighbors(const TransportContext& context) {
        std::vector<Words> letters(links_.size());
        for (const auto& [node, which] : links_to_)
            for (std::size_t k = 0; k < which.size(); ++k) put_side(letters[which[k]], node, k);
        exchange_letters(context, letters, [&](std::size_t i, WordReader& letter) { get_side(letter, i); });
    }

    void put_side(Words& letter, int node, std::size_t k) const {
        const Route& route = route_to(node);
        const Route::Part* part = route.part_of(node_rank_);
        put_list(letter, route.candidates);
        put_list(letter, route.slices);
        letter.push_back(part == nullptr ? -1 : part->slice);
        if (part == nullptr) return;
        letter.push_back(part->offset);
        bundles_.at(node).describe(letter, k);
    }

    void get_side(WordReader& letter, std::size_t i) {
        const int node = node_of_[i];
        Side& side = sides_[node];
        side.candidates = letter.list();
        side.slices.resize(letter.count(1));
        for (byte_count& bytes : side.slices) bytes = letter.next();
        const int slice = letter.next_in<int>(-1, static_cast<global_index>(side.slices.size()) - 1);
        slots_[i].receives = links_[i]->way(direction_).receive_bytes > 0;
        if (slice < 0) return;
        const byte_count offset = letter.next();
        slots_[i].from = Bundle::read(plan_, direction_, *links_[i], letter, lists_);
        slots_[i].from.offset += offset;
        if (slots_[i].receives) slots_[i].read = read_of({node, slice, true});
    }

    std::size_t read_of(const SliceName& name) {
        for (std::size_t i = 0; i < reads_.size(); ++i)
            if (reads_[i].name == name) return ++reads_[i].slots, i;
        Read& read = reads_.emplace_back();
        read.name = name;
        read.slots = 1;
        return reads_.size() - 1;
    }

    // What this rank carries, of all routes of its node to whose other side it has a link.
    void allocate() {
        for (const auto& [node, side] : sides_) {
            const Route& route = route_to(node);
            for (std::size_t j = 0; j < route.slices.size(); ++j)
                if (carrier(route.candidates, j, route.slices.size()) == comm_.rank())
                    sent_.push_back({{node, static_cast<int>(j), false}, carrier(side.candidates, j, route.slices.size()), 0,
                                     {nullptr, ranks_.size(), route.slices[j]}, {}, {}});
            for (std::size_t j = 0; j < side.slices.size(); ++j)
                if (carrier(route.candidates, j, side.slices.size()) == comm_.rank())
                    got_.push_back({{node, static_cast<int>(j), true}, carrier(side.candidates, j, side.slices.size()), 0,
                                    {nullptr, ranks_.size(), side.slices[j]}, {}, {}});
        }
        byte_count total = 0;
        const auto each_memory = [&](auto&& act) {
            for (Sent& sent : sent_) act(sent.memory);
            for (Got& got : got_) act(got.memory);
        };
        each_memory([&](const SliceMemory& memory) { total += SliceMemory::size(memory.ranks, memory.bytes); });
        if (total == 0) return;
        memory_ = source_.allocate(total);
        std::byte* next = memory_.get();
        each_memory([&](SliceMemory& memory) {
            memory.start = std::exchange(next, next + SliceMemory::size(memory.ranks, memory.bytes));
            memory.construct();
        });
    }

    // Ranks of the node tell where what they carry is, and whose messages they read.
    void find_memory() {
        Words mine;
        const auto put = [&](const SliceName& name, std::byte* place) {
            mine.insert(mine.end(), {name.node, name.slice, name.comes, place != nullptr});
            if (place != nullptr) source_.describe(mine, place);
        };
        for (const Sent& sent : sent_) put(sent.name, sent.memory.start);
        for (const Got& got : got_) put(got.name, got.memory.start);
        for (const Read& read : reads_) put(read.name, nullptr);
        const std::vector<Words> told = tell_node(comm_.node(), mine);
        validate_together(comm_, [&] {
            add_given();
            for (std::size_t rank = 0; rank < told.size(); ++rank) {
                WordReader letter(told[rank], "what a rank on this node carries");
                while (!letter.at_end()) take(letter, static_cast<int>(rank));
            }
            for (Sent& sent : sent_) meet_parts(sent);
        });
    }

    void add_given() {
        for (auto& [node, bundle] : bundles_)
            if (const Route::Part* part = route_to(node).part_of(node_rank_))
                given_.push_back({std::move(bundle), {node, part->slice, false}, part->offset, nullptr, {}, nullptr});
        bundles_.clear();
    }

    NodeNeighbor* meet(int node_rank) {
        const auto i = static_cast<std::size_t>(node_rank);
        return node_rank == node_rank_ ? nullptr : &node_.meet(ranks_[i], postboxes_[i]);
    }

    // Of one message that a rank carries, or reads.
    void take(WordReader& letter, int rank) {
        const int node = letter.next_in<int>(0, comm_.size() - 1), slice = letter.next_in<int>(0, 1 << 20);
        const SliceName name{node, slice, letter.next() != 0};
        if (letter.next() == 0) return add_reader(name, rank);
        std::shared_ptr<std::byte> there;
        for (Given& given : given_)
            if (given.name == name) map(given, rank, letter, there, route_to(node).slices[static_cast<std::size_t>(slice)]);
        for (Read& read : reads_)
            if (read.name == name) {
                map(read, rank, letter, there, sides_.at(node).slices[static_cast<std::size_t>(slice)]);
                read.carrier_rank = ranks_[static_cast<std::size_t>(rank)];
            }
        if (!there) get_place(letter);
    }

    template <class Use>
    void map(Use& use, int rank, WordReader& letter, std::shared_ptr<std::byte>& there, byte_count bytes) {
        if (!there) there = source_.find(letter, ranks_[static_cast<std::size_t>(rank)]);
        use.keep = there;
        use.memory = {there.get(), ranks_.size(), bytes};
        use.carrier = meet(rank);
    }

    void add_reader(const SliceName& name, int rank) {
        for (Got& got : got_)
            if (got.name == name) {
                got.readers.push_back(rank);
                if (NodeNeighbor* const neighbor = meet(rank)) got.neighbors.push_back(neighbor);
            }
    }

    void meet_parts(Sent& sent) {
        for (const Route::Part& part : route_to(sent.name.node).parts) {
            if (part.slice != sent.name.slice) continue;
            sent.from.push_back(part.node_rank);
            if (NodeNeighbor* const neighbor = meet(part.node_rank)) sent.neighbors.push_back(neighbor);
        }
    }

    // One channel with each rank of another node to which, or from which, this one carries a message; it has one tag in both directions.
    std::unique_ptr<Messenger> make_messenger(const TransportContext& context, const MakeNodeMessenger& make) {
        std::map<int, Channel> by_rank;
        const auto slot = static_cast<std::uint64_t>(messengers_[0] != nullptr);
        for (const Sent& sent : sent_) by_rank[sent.to].send_bytes = sent.memory.bytes, by_rank[sent.to].send = sent.memory.slot(slot);
        for (const Got& got : got_) by_rank[got.from].receive_bytes = got.memory.bytes, by_rank[got.from].receive = got.memory.slot(slot);
        std::vector<Channel> channels;
        if (slot == 0) carriers_.resize(by_rank.size());
        std::vector<const LinkPlan*> links;
        for (auto& [rank, channel] : by_rank) {
            channel.rank = rank;
            channel.link = static_cast<int>(channels.size());
            LinkPlan& link = carriers_[channels.size()];
            link.rank = rank;
            links.push_back(&link);
            for (Sent& sent : sent_)
                if (sent.to == rank) sent.channel = channel.link;
            for (Got& got : got_)
                if (got.from == rank) got.channel = channel.link;
            channels.push_back(channel);
        }
        return make(context.with(std::move(links)), std::move(channels));
    }

    const Plan& plan_;
    const BoundArrays& arrays_;
    const Direction direction_;
    const Communicator& comm_;
    NodeContext& node_;
    const std::vector<const LinkPlan*> links_;
    slots::NodeMemory source_;
    // of the node
    std::vector<int> ranks_;
    std::vector<RemotePlace> postboxes_;
    int node_rank_ = 0;
    std::vector<Route> routes_;
    // of other nodes
    std::vector<int> node_of_;
    std::map<int, std::vector<std::size_t>> links_to_;
    std::map<int, Bundle> bundles_;
    std::map<int, Side> sides_;
    std::deque<std::vector<local_index>> lists_;

    std::vector<Slot> slots_;
    std::vector<Given> given_;
    std::vector<Read> reads_;
    std::vector<Sent> sent_;
    std::vector<Got> got_;
    std::shared_ptr<std::byte> memory_;
    std::vector<LinkPlan> carriers_;
    std::array<std::unique_ptr<Messenger>, 2> messengers_;  // of exchanges with even, and with odd numbers
    std::uint64_t number_ = 0;
    bool all_sent_ = true, over_ = false;
};

// Neighbors on the own node have rings.
std::unique_ptr<Transport> make_node_aware(const TransportContext& context, const MakeNodeMessenger& make) {
    const Communicator& comm = context.plan.communicator();
    comm.node();
    std::array<std::vector<int>, 2> slots;
    std::array<std::vector<const LinkPlan*>, 2> links;
    for (std::size_t i = 0; i < context.links.size(); ++i) {
        const std::size_t far = comm.node_rank(context.links[i]->rank) < 0;
        slots[far].push_back(static_cast<int>(i));
        links[far].push_back(context.links[i]);
    }
    auto near = make_staged_shared(context.with(std::move(links[0])));
    auto far = std::make_unique<NodeAware>(context.with(std::move(links[1])), make);
    auto both = std::make_unique<Split>();
    if (!slots[0].empty()) both->add(std::move(near), slots[0]);
    both->add(std::move(far), slots[1]);
    return both;
}

}  // namespace

std::unique_ptr<Transport> make_node_aware_mpi(const TransportContext& context) { return make_node_aware(context, make_mpi_messenger); }
std::unique_ptr<Transport> make_node_aware_ucx(const TransportContext& context) { return make_node_aware(context, make_ucx_messenger); }

}  // namespace parhelion
