#pragma once

#include <memory>
#include <vector>

#include "halo/isend_messages.hpp"
#include "shared_window.hpp"

namespace parhelion::bench {

/// Three steps over MPI alone: ranks of a node pack what goes to other nodes into memory of the first of them, which sends one message to each
/// node and receives one; then all unpack. A barrier of the node's ranks lies between the steps. Neighbors on the node get messages of their own.
class NodeMessages {
public:
    /// Collective. Throws CannotRun where all ranks are on one node.
    NodeMessages(MPI_Comm comm, Messages messages);
    ~NodeMessages();
    NodeMessages(const NodeMessages&) = delete;
    NodeMessages& operator=(const NodeMessages&) = delete;

    void post_receives();
    void pack_and_send();
    void copy_own_images() { near_->copy_own_images(); }
    void unpack_arrivals();
    void wait_for_sends();
    Traffic traffic() const;

private:
    // What the node sends to another, or receives from it, in the first rank's memory.
    struct Area {
        int leader = 0;  // of the other node
        std::size_t begin = 0, bytes = 0;
    };
    std::vector<int> learn_nodes();
    void lay_out(const std::vector<int>& node_of);
    void learn_places(const std::vector<int>& node_of);
    std::byte* memory() const { return window_->of(0); }
    bool leads() const { return node_rank_ == 0; }
    void meet() const;

    MPI_Comm comm_, node_ = MPI_COMM_NULL;
    int node_rank_ = 0;
    std::vector<Message> sends_, receives_;  // to and from other nodes
    std::unique_ptr<IsendMessages> near_;
    std::vector<Area> out_, in_;
    std::vector<std::size_t> send_places_, receive_places_;  // of each message in the first rank's memory
    std::unique_ptr<SharedWindow> window_;
    std::vector<MPI_Request> out_requests_, in_requests_;
};

}  // namespace parhelion::bench
