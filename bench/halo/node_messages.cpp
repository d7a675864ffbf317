#include "halo/node_messages.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>

#include "errors.hpp"

namespace parhelion::bench {

namespace {

constexpr int tag_between_nodes = 1000;  // offsets have smaller numbers

// Takes those for which `away` says so out of the list.
template <class Away>
std::vector<Message> take_out(std::vector<Message>& messages, Away&& away) {
    const auto first = std::stable_partition(messages.begin(), messages.end(), [&](const Message& each) { return !away(each.rank); });
    std::vector<Message> taken(std::make_move_iterator(first), std::make_move_iterator(messages.end()));
    messages.erase(first, messages.end());
    return taken;
}

std::vector<std::int64_t> bytes_by_node(const std::vector<Message>& messages, const std::vector<int>& node_of) {
    std::vector<std::int64_t> bytes(node_of.size(), 0);
    for (const Message& message : messages) bytes[static_cast<std::size_t>(node_of[static_cast<std::size_t>(message.rank)])] += static_cast<std::int64_t>(message.bytes);
    return bytes;
}

}  // namespace

NodeMessages::NodeMessages(MPI_Comm comm, Messages messages) : comm_(comm) {
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    MPI_Comm_rank(node_, &node_rank_);
    const std::vector<int> node_of = learn_nodes();
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto away = [&](int other) { return node_of[static_cast<std::size_t>(other)] != node_of[static_cast<std::size_t>(rank)]; };
    sends_ = take_out(messages.sends, away);
    receives_ = take_out(messages.receives, away);
    near_ = std::make_unique<IsendMessages>(comm, std::move(messages));
    lay_out(node_of);
    learn_places(node_of);
}

NodeMessages::~NodeMessages() {
    window_.reset();
    MPI_Comm_free(&node_);
}

// Of each rank the first rank of its node.
std::vector<int> NodeMessages::learn_nodes() {
    int rank = 0, size = 0, node_size = 0;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    MPI_Comm_size(node_, &node_size);
    if (node_size == size) throw CannotRun("all ranks are on one node");
    int first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, node_);
    std::vector<int> node_of(static_cast<std::size_t>(size));
    MPI_Allgather(&first, 1, MPI_INT, node_of.data(), 1, MPI_INT, comm_);
    return node_of;
}

void NodeMessages::lay_out(const std::vector<int>& node_of) {
    std::size_t total = 0;
    const auto areas = [&](const std::vector<Message>& messages) {
        std::vector<std::int64_t> bytes = bytes_by_node(messages, node_of);
        MPI_Allreduce(MPI_IN_PLACE, bytes.data(), static_cast<int>(bytes.size()), MPI_INT64_T, MPI_SUM, node_);
        std::vector<Area> all;
        for (std::size_t leader = 0; leader < bytes.size(); ++leader)
            if (bytes[leader] > 0) {
                all.push_back({static_cast<int>(leader), total, static_cast<std::size_t>(bytes[leader])});
                total += (all.back().bytes + 63) / 64 * 64;
            }
        return all;
    };
    out_ = areas(sends_);
    in_ = areas(receives_);
    window_ = std::make_unique<SharedWindow>(node_, leads() ? total : 0);
    if (!leads()) return;
    out_requests_.assign(out_.size(), MPI_REQUEST_NULL);
    in_requests_.assign(in_.size(), MPI_REQUEST_NULL);
}

// Ranks one behind the other; each tells receivers where in its node's message theirs begins.
void NodeMessages::learn_places(const std::vector<int>& node_of) {
    const std::vector<std::int64_t> mine = bytes_by_node(sends_, node_of);
    std::vector<std::int64_t> before(mine.size(), 0);
    MPI_Exscan(mine.data(), before.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, node_);
    if (leads()) std::fill(before.begin(), before.end(), 0);
    std::vector<std::int64_t> told(sends_.size()), heard(receives_.size());
    std::vector<MPI_Request> requests(sends_.size() + receives_.size());
    const auto area_of = [&](const std::vector<Area>& areas, int rank) {
        const int leader = node_of[static_cast<std::size_t>(rank)];
        return std::find_if(areas.begin(), areas.end(), [leader](const Area& area) { return area.leader == leader; })->begin;
    };
    for (std::size_t i = 0; i < receives_.size(); ++i)
        MPI_Irecv(&heard[i], 1, MPI_INT64_T, receives_[i].rank, receives_[i].tag, comm_, &requests[sends_.size() + i]);
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        std::int64_t& place = before[static_cast<std::size_t>(node_of[static_cast<std::size_t>(sends_[i].rank)])];
        told[i] = std::exchange(place, place + static_cast<std::int64_t>(sends_[i].bytes));
        MPI_Isend(&told[i], 1, MPI_INT64_T, sends_[i].rank, sends_[i].tag, comm_, &requests[i]);
        send_places_.push_back(area_of(out_, sends_[i].rank) + static_cast<std::size_t>(told[i]));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < receives_.size(); ++i)
        receive_places_.push_back(area_of(in_, receives_[i].rank) + static_cast<std::size_t>(heard[i]));
}

void NodeMessages::meet() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    MPI_Barrier(node_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void NodeMessages::post_receives() {
    near_->post_receives();
    for (std::size_t i = 0; i < in_requests_.size(); ++i)
        MPI_Irecv(memory() + in_[i].begin, static_cast<int>(in_[i].bytes), MPI_BYTE, in_[i].leader, tag_between_nodes, comm_, &in_requests_[i]);
}

void NodeMessages::pack_and_send() {
    for (std::size_t i = 0; i < sends_.size(); ++i) pack_message(sends_[i], memory() + send_places_[i]);
    meet();
    for (std::size_t i = 0; i < out_requests_.size(); ++i)
        MPI_Isend(memory() + out_[i].begin, static_cast<int>(out_[i].bytes), MPI_BYTE, out_[i].leader, tag_between_nodes, comm_, &out_requests_[i]);
    near_->pack_and_send();
}

void NodeMessages::unpack_arrivals() {
    near_->unpack_arrivals();
    MPI_Waitall(static_cast<int>(in_requests_.size()), in_requests_.data(), MPI_STATUSES_IGNORE);
    meet();
    for (std::size_t i = 0; i < receives_.size(); ++i) unpack_message(memory() + receive_places_[i], receives_[i]);
}

// Nobody writes into the memory again before it was sent and read.
void NodeMessages::wait_for_sends() {
    near_->wait_for_sends();
    MPI_Waitall(static_cast<int>(out_requests_.size()), out_requests_.data(), MPI_STATUSES_IGNORE);
    meet();
}

Traffic NodeMessages::traffic() const {
    Traffic traffic = near_->traffic();
    for (std::size_t i = 0; i < out_requests_.size(); ++i) {
        traffic.bytes += static_cast<std::int64_t>(out_[i].bytes);
        traffic.sent.push_back({out_[i].leader, static_cast<std::int64_t>(out_[i].bytes)});
        ++traffic.messages;
    }
    return traffic;
}

}  // namespace parhelion::bench
