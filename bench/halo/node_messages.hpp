#pragma once

#include <memory>
#include <vector>

#include "halo/message_kinds.hpp"
#include "node_areas.hpp"

namespace parhelion::bench {

/// What goes to other nodes in three steps; neighbors on the node get messages of their own.
class NodeMessages {
public:
    /// Collective. Throws CannotRun where all ranks are on one node.
    NodeMessages(MPI_Comm comm, Messages messages);

    void post_receives();
    void pack_and_send();
    void copy_own_images() { near_->copy_own_images(); }
    void unpack_arrivals();
    void wait_for_sends();
    Traffic traffic() const { return areas_.traffic(near_->traffic()); }

private:
    std::vector<Message> take_away(std::vector<Message>& messages) const;

    NodeAreas areas_;
    std::vector<Message> sends_, receives_;  // to and from other nodes
    std::unique_ptr<IsendMessages> near_;
};

}  // namespace parhelion::bench
