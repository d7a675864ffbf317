#include <climits>

#include "alltoall/case.hpp"
#include "memory.hpp"
#include "mpi_handles.hpp"
#include "nodes.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

/// What all variants share: the case's buffers, and one message to every other rank
/// unless told otherwise.
class OnBuffers : public Variant {
public:
    explicit OnBuffers(const AlltoallSetup& setup) : comm_(setup.comm), buffers_(setup.buffers) {}

    Values& values() override { return *buffers_; }
    Traffic traffic() const override {
        const std::int64_t others = ranks() - 1;
        return {others * static_cast<std::int64_t>(block_bytes()), others};
    }

protected:
    MPI_Comm comm() const { return comm_; }
    int rank() const { return buffers_->rank(); }
    int ranks() const { return buffers_->ranks(); }
    std::size_t block_bytes() const { return buffers_->block_bytes(); }
    int count() const {
        return static_cast<int>(block_bytes());
    }  // a case's size fits, see case.cpp
    std::byte* send(int to) const { return buffers_->send(to); }
    std::byte* receive(int from) const { return buffers_->receive(from); }

private:
    MPI_Comm comm_;
    std::shared_ptr<AlltoallBuffers> buffers_;
};

/// Collective; what it takes is added to `times.plan`.
template <class Baseline>
VariantPointer make_plain(const AlltoallSetup& setup, SetupTimes& times) {
    return timed(times.plan, [&] { return std::make_unique<Baseline>(setup); });
}

constexpr int tag_of_bruck = 43;

/// Logarithmically many messages, each of half the data (Bruck et al., IEEE TPDS 1997): for small
/// blocks.
///
/// Slot i of `slots_` holds the block that still has i ranks to go, counted upwards from its
/// sender. In the phase of distance d every slot with bit d moves on by d ranks; at the end slot i
/// holds what came from rank - i.
class Bruck : public OnBuffers {
public:
    explicit Bruck(const AlltoallSetup& setup)
        : OnBuffers(setup), slots_(1, all_bytes()), packed_(1, all_bytes()),
          arrived_(1, all_bytes()) {}

    void exchange() override {
        for (int i = 0; i < ranks(); ++i) copy(slot(i), send((rank() + i) % ranks()));
        for (int distance = 1; distance < ranks(); distance *= 2) move_on(distance);
        for (int i = 0; i < ranks(); ++i) copy(receive((rank() - i + ranks()) % ranks()), slot(i));
    }

    Traffic traffic() const override {
        Traffic total;
        for (int distance = 1; distance < ranks(); distance *= 2, ++total.messages)
            for (int i = 0; i < ranks(); ++i)
                if (i & distance) total.bytes += static_cast<std::int64_t>(block_bytes());
        return total;
    }

private:
    std::size_t all_bytes() const { return static_cast<std::size_t>(ranks()) * block_bytes(); }
    std::byte* slot(int i) const {
        return slots_.block(0) + static_cast<std::size_t>(i) * block_bytes();
    }
    void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, block_bytes()); }

    void move_on(int distance) {
        std::byte* end = packed_.block(0);
        for (int i = 0; i < ranks(); ++i)
            if (i & distance) copy(end, slot(i)), end += block_bytes();
        const int bytes = static_cast<int>(end - packed_.block(0));
        MPI_Sendrecv(packed_.block(0), bytes, MPI_BYTE, (rank() + distance) % ranks(), tag_of_bruck,
                     arrived_.block(0), bytes, MPI_BYTE, (rank() - distance + ranks()) % ranks(),
                     tag_of_bruck, comm(), MPI_STATUS_IGNORE);
        const std::byte* next = arrived_.block(0);
        for (int i = 0; i < ranks(); ++i)
            if (i & distance) copy(slot(i), next), next += block_bytes();
    }

    PrivateMemory slots_, packed_, arrived_;
};

VariantPointer make_bruck(const AlltoallSetup& setup, SetupTimes& times) {
    const auto bytes = static_cast<double>(setup.buffers->ranks()) *
                       static_cast<double>(setup.buffers->block_bytes());
    if (bytes > INT_MAX)
        throw CannotRun("a message of half the blocks would be larger than 31 bits can count");
    return make_plain<Bruck>(setup, times);
}

constexpr int tag_of_node_aware = 44;

/// What the ranks of two nodes tell each other: for each rank of the one a block for each of the
/// other.
std::size_t blocks_between(const NodeMap& map, int node) {
    return map.of(map.mine).size() * map.of(node).size();
}

std::vector<int> nodes_of_speaker(const NodeMap& map, int place) {
    std::vector<int> nodes;
    for (int node = 0; node < map.nodes(); ++node)
        if (node != map.mine && map.speaker(map.mine, node) == place) nodes.push_back(node);
    return nodes;
}

std::size_t blocks_of_speaker(const NodeMap& map, int place) {
    std::size_t blocks = 0;
    for (int node : nodes_of_speaker(map, place)) blocks += blocks_between(map, node);
    return blocks;
}

/// Through shared memory inside a node, and one message per pair of nodes between them.
///
/// Every rank shows its blocks to its node, and one rank per other node collects what goes there
/// and shows what came. Memory that is shown has two halves in turn, so that nobody waits for those
/// who still read the call before: a rank that shows call n has read all of call n - 1, hence
/// whoever saw that may overwrite n - 1's half in call n + 1.
class NodeAware : public OnBuffers {
public:
    NodeAware(const AlltoallSetup& setup, const Communicator& comm)
        : OnBuffers(setup), node_(comm.node()), map_(comm),
          my_nodes_(nodes_of_speaker(map_, node_.rank())),
          shown_(node_, 2, static_cast<std::size_t>(ranks()) * block_bytes()),
          arrived_(node_, 2, blocks_of_speaker(map_, node_.rank()) * block_bytes()),
          packed_(1, blocks_of_speaker(map_, node_.rank()) * block_bytes()),
          requests_(2 * my_nodes_.size()) {
        MPI_Type_contiguous(count(), MPI_BYTE, &block_);
        MPI_Type_commit(&block_);
    }
    ~NodeAware() override { MPI_Type_free(&block_); }
    NodeAware(const NodeAware&) = delete;
    NodeAware& operator=(const NodeAware&) = delete;

    void exchange() override {
        ++calls_;
        std::memcpy(shown_.block(half()), send(0),
                    static_cast<std::size_t>(ranks()) * block_bytes());
        shown_.post(calls_);
        start_messages();
        read_own_node();
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        arrived_.post(calls_);
        for (int node = 0; node < map_.nodes(); ++node)
            if (node != map_.mine) read_from(node);
    }

    Traffic traffic() const override {
        const std::size_t blocks = blocks_of_speaker(map_, node_.rank());
        return {static_cast<std::int64_t>(blocks * block_bytes()),
                static_cast<std::int64_t>(my_nodes_.size())};
    }

    nlohmann::json explain() const override {
        return std::to_string(map_.nodes()) + (map_.nodes() == 1 ? " node" : " nodes") + ", " +
               std::to_string(node_.size()) + " ranks on that of rank 0";
    }

private:
    int half() const { return static_cast<int>(calls_ % 2); }
    std::size_t bytes_of(std::size_t blocks) const { return blocks * block_bytes(); }

    void start_messages() {
        if (my_nodes_.empty()) return;
        auto* request = requests_.data();
        std::byte* from = arrived_.block(half());
        for (int node : my_nodes_) {
            MPI_Irecv(from, blocks(node), block_, partner(node), tag_of_node_aware, comm(),
                      request++);
            from += bytes_of(blocks_between(map_, node));
        }
        for (int place = 0; place < node_.size(); ++place) shown_.wait_for(place, calls_);
        std::byte* to = packed_.block(0);
        for (int node : my_nodes_) {
            pack(node, to);
            MPI_Isend(to, blocks(node), block_, partner(node), tag_of_node_aware, comm(),
                      request++);
            to += bytes_of(blocks_between(map_, node));
        }
    }

    int blocks(int node) const { return static_cast<int>(blocks_between(map_, node)); }
    int partner(int node) const {
        return map_.of(node)[static_cast<std::size_t>(map_.speaker(node, map_.mine))];
    }

    void pack(int node, std::byte* to) const {
        for (int place = 0; place < node_.size(); ++place)
            for (int target : map_.of(node)) {
                std::memcpy(
                    to, shown_.block_of(place, half()) + bytes_of(static_cast<std::size_t>(target)),
                    block_bytes());
                to += block_bytes();
            }
    }

    void read_own_node() const {
        const auto& here = map_.of(map_.mine);
        for (int step = 0; step < node_.size(); ++step) {
            const int place = (node_.rank() + step) % node_.size();
            shown_.wait_for(place, calls_);
            const std::byte* block =
                shown_.block_of(place, half()) + bytes_of(static_cast<std::size_t>(rank()));
            std::memcpy(receive(here[static_cast<std::size_t>(place)]), block, block_bytes());
        }
    }

    void read_from(int node) const {
        const int speaker = map_.speaker(map_.mine, node);
        arrived_.wait_for(speaker, calls_);
        const std::byte* from = arrived_.block_of(speaker, half());
        for (int earlier : nodes_of_speaker(map_, speaker)) {
            if (earlier == node) break;
            from += bytes_of(blocks_between(map_, earlier));
        }
        from += bytes_of(static_cast<std::size_t>(node_.rank()));
        for (int source : map_.of(node)) {
            std::memcpy(receive(source), from, block_bytes());
            from += bytes_of(static_cast<std::size_t>(node_.size()));
        }
    }

    Communicator node_;
    NodeMap map_;
    std::vector<int> my_nodes_;
    OpenMemory shown_, arrived_;
    PrivateMemory packed_;
    std::vector<MPI_Request> requests_;
    MPI_Datatype block_ = MPI_DATATYPE_NULL;
    std::uint32_t calls_ = 0;
};

VariantPointer make_node_aware(const AlltoallSetup& setup, SetupTimes& times) {
    const Communicator comm(setup.comm);
    return timed(times.plan, [&] { return std::make_unique<NodeAware>(setup, comm); });
}

class MpiAlltoall : public OnBuffers {
public:
    using OnBuffers::OnBuffers;
    void exchange() override {
        MPI_Alltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm());
    }
};

class MpiIalltoall : public OnBuffers {
public:
    using OnBuffers::OnBuffers;
    void exchange() override {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ialltoall(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(), &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
};

#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
class MpiAlltoallInit : public OnBuffers {
public:
    explicit MpiAlltoallInit(const AlltoallSetup& setup) : OnBuffers(setup) {
        MPI_Alltoall_init(send(0), count(), MPI_BYTE, receive(0), count(), MPI_BYTE, comm(),
                          MPI_INFO_NULL, &request_);
    }
    ~MpiAlltoallInit() override { MPI_Request_free(&request_); }
    MpiAlltoallInit(const MpiAlltoallInit&) = delete;
    MpiAlltoallInit& operator=(const MpiAlltoallInit&) = delete;
    void exchange() override {
        MPI_Start(&request_);
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

class MpiAlltoallv : public OnBuffers {
public:
    explicit MpiAlltoallv(const AlltoallSetup& setup)
        : OnBuffers(setup), counts_(static_cast<std::size_t>(ranks()), count()) {
        for (int other = 0; other < ranks(); ++other) offsets_.push_back(other * count());
    }
    void exchange() override {
        MPI_Alltoallv(send(0), counts_.data(), offsets_.data(), MPI_BYTE, receive(0),
                      counts_.data(), offsets_.data(), MPI_BYTE, comm());
    }

private:
    std::vector<int> counts_, offsets_;
};

/// One partner after the other: in step i rank r sends to r + i and receives from r - i, or both
/// with r xor i where the ranks are a power of two (Thakur, Rabenseifner & Gropp, IJHPCA 2005,
/// section 4.4).
class Pairwise : public OnBuffers {
public:
    using OnBuffers::OnBuffers;

    void exchange() override {
        std::memcpy(receive(rank()), send(rank()), block_bytes());
        const bool power_of_two = (ranks() & (ranks() - 1)) == 0;
        for (int step = 1; step < ranks(); ++step) {
            if (power_of_two) exchange_with(rank() ^ step, rank() ^ step);
            else exchange_with((rank() + step) % ranks(), (rank() - step + ranks()) % ranks());
        }
    }

private:
    static constexpr int tag = 41;
    void exchange_with(int to, int from) {
        MPI_Sendrecv(send(to), count(), MPI_BYTE, to, tag, receive(from), count(), MPI_BYTE, from,
                     tag, comm(), MPI_STATUS_IGNORE);
    }
};

VariantPointer make_mpi_alltoall_init(const AlltoallSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
    if (MPI_Alltoall_init != nullptr) return make_plain<MpiAlltoallInit>(setup, times);
#endif
    static_cast<void>(setup), static_cast<void>(times);
    throw CannotRun("this MPI is older than MPI 4, which brought persistent collectives");
}

VariantPointer make_mpi_alltoallv(const AlltoallSetup& setup, SetupTimes& times) {
    const auto bytes = static_cast<double>(setup.buffers->ranks()) *
                       static_cast<double>(setup.buffers->block_bytes());
    if (bytes > INT_MAX)
        throw CannotRun(
            "MPI_Alltoallv counts offsets in 31 bits, and the blocks together are larger");
    return make_plain<MpiAlltoallv>(setup, times);
}

// The baseline is what everybody calls. Other calls of MPI are its peers; the rest is written here.
constexpr TableRow<AlltoallSetup> variants[] = {
    {"mpi_alltoall", "baseline", make_plain<MpiAlltoall>},
    {"mpi_alltoall_init", "peer", make_mpi_alltoall_init},
    {"mpi_ialltoall", "peer", make_plain<MpiIalltoall>},
    {"mpi_alltoallv", "peer", make_mpi_alltoallv},
    {"pairwise", "own", make_plain<Pairwise>},
    {"bruck", "own", make_bruck},
    {"node_aware", "own", make_node_aware},
};

}  // namespace

std::vector<Entry> alltoall_variants(const AlltoallSetup& setup) {
    std::vector<Entry> entries;
    add_rows(entries, variants, setup);
    entries.push_back(planted_fault(
        setup.comm, [=](SetupTimes& times) { return make_plain<Pairwise>(setup, times); },
        [buffers = setup.buffers](Variant&) { return buffers->receive(0); }));
    return entries;
}

}  // namespace parhelion::bench
