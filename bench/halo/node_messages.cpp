#include "halo/node_messages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parhelion::bench {

namespace {

std::vector<NodeAreas::Part> parts_of(const std::vector<Message>& messages) {
    std::vector<NodeAreas::Part> parts;
    for (const Message& message : messages)
        parts.push_back({message.rank, message.tag, message.bytes});
    return parts;
}

}  // namespace

NodeMessages::NodeMessages(MPI_Comm comm, Messages messages) : areas_(comm) {
    sends_ = take_away(messages.sends);
    receives_ = take_away(messages.receives);
    near_ = std::make_unique<IsendMessages>(comm, std::move(messages));
    areas_.lay_out(parts_of(sends_), parts_of(receives_));
}

// Takes those of other nodes out of the list.
std::vector<Message> NodeMessages::take_away(std::vector<Message>& messages) const {
    const auto first =
        std::stable_partition(messages.begin(), messages.end(),
                              [&](const Message& each) { return !areas_.is_away(each.rank); });
    std::vector<Message> taken(std::make_move_iterator(first),
                               std::make_move_iterator(messages.end()));
    messages.erase(first, messages.end());
    return taken;
}

void NodeMessages::post_receives() {
    near_->post_receives();
    areas_.post_receives();
}

void NodeMessages::pack_and_send() {
    for (std::size_t i = 0; i < sends_.size(); ++i) pack_message(sends_[i], areas_.to_send(i));
    areas_.send();
    near_->pack_and_send();
}

void NodeMessages::unpack_arrivals() {
    near_->unpack_arrivals();
    areas_.await_receives();
    for (std::size_t i = 0; i < receives_.size(); ++i)
        unpack_message(areas_.received(i), receives_[i]);
}

void NodeMessages::wait_for_sends() {
    near_->wait_for_sends();
    areas_.await_sends();
}

}  // namespace parhelion::bench
