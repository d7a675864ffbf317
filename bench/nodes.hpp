#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "memory.hpp"
#include "parhelion/core/communicator.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// Which ranks share a node, for all nodes: an alltoall talks to every rank anyhow.
struct NodeMap {
    /// Collective.
    explicit NodeMap(const Communicator& comm);

    std::vector<std::vector<int>>
        members;   // of each node, ascending; nodes in the order of their first ranks
    int mine = 0;  // this rank's node

    int nodes() const { return static_cast<int>(members.size()); }
    const std::vector<int>& of(int node) const { return members[static_cast<std::size_t>(node)]; }
    /// Place among the ranks of `node` of the one that talks to `other` for all of them.
    int speaker(int node, int other) const { return other % static_cast<int>(of(node).size()); }
};

/// Where a message goes, or comes from, and how long it is.
struct Envelope {
    int rank = 0, tag = 0;
    std::size_t bytes = 0;

    int count() const { return static_cast<int>(bytes); }
};

/// Three steps over MPI alone: ranks of a node pack what goes to other nodes into memory of the
/// first of them, which sends one message to each node and receives one; then all unpack. A barrier
/// of the node's ranks lies between the steps.
class NodeAreas {
public:
    /// What this rank sends to ranks of other nodes, or receives from them.
    using Parts = std::vector<Envelope>;

    /// Collective. Throws CannotRun where all ranks are on one node.
    explicit NodeAreas(MPI_Comm comm);
    ~NodeAreas();
    NodeAreas(const NodeAreas&) = delete;
    NodeAreas& operator=(const NodeAreas&) = delete;

    bool is_away(int rank) const { return node_of(rank) != node_of(rank_); }
    /// Collective, once.
    void lay_out(const Parts& sends, const Parts& receives);
    /// Where those parts are packed to, and unpacked from.
    std::byte* to_send(std::size_t part) const { return memory() + send_places_[part]; }
    const std::byte* received(std::size_t part) const { return memory() + receive_places_[part]; }

    void post_receives();
    /// When this rank has packed its parts.
    void send();
    /// Before it unpacks.
    void await_receives();
    /// When it has unpacked: nobody writes into the memory again before it was sent and read.
    void await_sends();
    /// With what the rank sends to others of its node.
    Traffic traffic(Traffic near) const;

private:
    // What the node sends to another, or receives from it, in the first rank's memory.
    struct Area {
        int leader = 0;  // of the other node
        std::size_t begin = 0, bytes = 0;
    };
    using Areas = std::vector<Area>;
    void learn_nodes();
    int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
    std::vector<std::int64_t> bytes_by_node(const Parts& parts) const;
    Areas make_areas(const Parts& parts, std::size_t& total) const;
    std::size_t begin_of(const Areas& areas, int rank) const;
    void learn_places(const Parts& sends, const Parts& receives);
    std::byte* memory() const { return window_->of(0); }
    bool leads() const { return node_rank_ == 0; }
    void meet() const;

    MPI_Comm comm_, node_ = MPI_COMM_NULL;
    int rank_ = 0, node_rank_ = 0;
    std::vector<int> node_of_;  // of each rank the first rank of its node
    Areas out_, in_;
    std::vector<std::size_t> send_places_, receive_places_;
    std::unique_ptr<SharedWindow> window_;
    std::vector<MPI_Request> out_requests_, in_requests_;
};

}  // namespace parhelion::bench
