#include "nodes.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "variant.hpp"

namespace parhelion::bench {

namespace {

std::vector<int> first_rank_of_every_rank(const Communicator& comm) {
    int first = comm.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm.node().handle());
    std::vector<int> all(static_cast<std::size_t>(comm.size()));
    MPI_Allgather(&first, 1, MPI_INT, all.data(), 1, MPI_INT, comm.handle());
    return all;
}

}  // namespace

NodeMap::NodeMap(const Communicator& comm) {
    const std::vector<int> first_of = first_rank_of_every_rank(comm);
    for (int rank = 0; rank < comm.size(); ++rank) {
        const int first = first_of[static_cast<std::size_t>(rank)];
        auto node = std::find_if(members.begin(), members.end(),
                                 [&](const auto& ranks) { return ranks[0] == first; });
        if (node == members.end()) node = members.emplace(members.end());
        node->push_back(rank);
        if (rank == comm.rank()) mine = static_cast<int>(node - members.begin());
    }
}

namespace {

constexpr int tag_between_nodes = 1000;  // parts have smaller ones

}  // namespace

NodeAreas::NodeAreas(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    MPI_Comm_rank(node_, &node_rank_);
    learn_nodes();
}

NodeAreas::~NodeAreas() {
    window_.reset();
    MPI_Comm_free(&node_);
}

void NodeAreas::learn_nodes() {
    int size = 0, node_size = 0, first = rank_;
    MPI_Comm_size(comm_, &size);
    MPI_Comm_size(node_, &node_size);
    if (node_size == size) {
        MPI_Comm_free(&node_);
        throw CannotRun("all ranks are on one node");
    }
    MPI_Bcast(&first, 1, MPI_INT, 0, node_);
    node_of_.resize(static_cast<std::size_t>(size));
    MPI_Allgather(&first, 1, MPI_INT, node_of_.data(), 1, MPI_INT, comm_);
}

std::vector<std::int64_t> NodeAreas::bytes_by_node(const Parts& parts) const {
    std::vector<std::int64_t> bytes(node_of_.size(), 0);
    for (const Envelope& part : parts)
        bytes[static_cast<std::size_t>(node_of(part.rank))] +=
            static_cast<std::int64_t>(part.bytes);
    return bytes;
}

NodeAreas::Areas NodeAreas::make_areas(const Parts& parts, std::size_t& total) const {
    std::vector<std::int64_t> bytes = bytes_by_node(parts);
    MPI_Allreduce(MPI_IN_PLACE, bytes.data(), static_cast<int>(bytes.size()), MPI_INT64_T, MPI_SUM,
                  node_);
    Areas areas;
    for (std::size_t leader = 0; leader < bytes.size(); ++leader)
        if (bytes[leader] > 0) {
            areas.push_back(
                {static_cast<int>(leader), total, static_cast<std::size_t>(bytes[leader])});
            total += (areas.back().bytes + 63) / 64 * 64;
        }
    return areas;
}

void NodeAreas::lay_out(const Parts& sends, const Parts& receives) {
    std::size_t total = 0;
    out_ = make_areas(sends, total);
    in_ = make_areas(receives, total);
    window_ = std::make_unique<SharedWindow>(node_, leads() ? total : 0);
    learn_places(sends, receives);
    if (!leads()) return;
    out_requests_.assign(out_.size(), MPI_REQUEST_NULL);
    in_requests_.assign(in_.size(), MPI_REQUEST_NULL);
}

std::size_t NodeAreas::begin_of(const Areas& areas, int rank) const {
    return std::find_if(
               areas.begin(), areas.end(),
               [leader = node_of(rank)](const Area& area) { return area.leader == leader; })
        ->begin;
}

// Ranks one behind the other; each tells receivers where in its node's message theirs begins.
void NodeAreas::learn_places(const Parts& sends, const Parts& receives) {
    const std::vector<std::int64_t> mine = bytes_by_node(sends);
    std::vector<std::int64_t> before(mine.size(), 0);
    MPI_Exscan(mine.data(), before.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM,
               node_);
    if (leads()) std::fill(before.begin(), before.end(), 0);
    std::vector<std::int64_t> told(sends.size()), heard(receives.size());
    std::vector<MPI_Request> requests;
    requests.reserve(sends.size() + receives.size());
    for (std::size_t i = 0; i < receives.size(); ++i)
        MPI_Irecv(&heard[i], 1, MPI_INT64_T, receives[i].rank, receives[i].tag, comm_,
                  &requests.emplace_back());
    for (std::size_t i = 0; i < sends.size(); ++i) {
        std::int64_t& place = before[static_cast<std::size_t>(node_of(sends[i].rank))];
        told[i] = std::exchange(place, place + static_cast<std::int64_t>(sends[i].bytes));
        MPI_Isend(&told[i], 1, MPI_INT64_T, sends[i].rank, sends[i].tag, comm_,
                  &requests.emplace_back());
        send_places_.push_back(begin_of(out_, sends[i].rank) + static_cast<std::size_t>(told[i]));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < receives.size(); ++i)
        receive_places_.push_back(begin_of(in_, receives[i].rank) +
                                  static_cast<std::size_t>(heard[i]));
}

void NodeAreas::meet() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    MPI_Barrier(node_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void NodeAreas::post_receives() {
    for (std::size_t i = 0; i < in_requests_.size(); ++i)
        MPI_Irecv(memory() + in_[i].begin, static_cast<int>(in_[i].bytes), MPI_BYTE, in_[i].leader,
                  tag_between_nodes, comm_, &in_requests_[i]);
}

void NodeAreas::send() {
    meet();
    for (std::size_t i = 0; i < out_requests_.size(); ++i)
        MPI_Isend(memory() + out_[i].begin, static_cast<int>(out_[i].bytes), MPI_BYTE,
                  out_[i].leader, tag_between_nodes, comm_, &out_requests_[i]);
}

void NodeAreas::await_receives() {
    MPI_Waitall(static_cast<int>(in_requests_.size()), in_requests_.data(), MPI_STATUSES_IGNORE);
    meet();
}

void NodeAreas::await_sends() {
    MPI_Waitall(static_cast<int>(out_requests_.size()), out_requests_.data(), MPI_STATUSES_IGNORE);
    meet();
}

Traffic NodeAreas::traffic(Traffic near) const {
    for (std::size_t i = 0; i < out_requests_.size(); ++i) {
        near.bytes += static_cast<std::int64_t>(out_[i].bytes);
        near.sent.push_back({out_[i].leader, static_cast<std::int64_t>(out_[i].bytes)});
        ++near.messages;
    }
    return near;
}

}  // namespace parhelion::bench
