#include "alltoall/node_map.hpp"
#include "alltoall/ways.hpp"
#include "floor/open_memory.hpp"

namespace parhelion::bench {

namespace {

constexpr int tag_of_node_aware = 44;

/// What the ranks of two nodes tell each other: for each rank of the one a block for each of the
/// other.
std::size_t blocks_between(const NodeMap& map, int node) {
    return map.of(map.mine).size() * map.of(node).size();
}

/// The other nodes that a rank of this node, told by its place, speaks to.
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

}  // namespace

ContenderPointer make_node_aware(const AlltoallSetup& setup, SetupTimes& times) {
    const Communicator comm(setup.comm);
    return timed(times.plan, [&] { return std::make_unique<NodeAware>(setup, comm); });
}

}  // namespace parhelion::bench
