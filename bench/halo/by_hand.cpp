#include "halo/by_hand.hpp"

#include <algorithm>
#include <iterator>

#include "halo/messages.hpp"
#include "mpi_handles.hpp"
#include "nodes.hpp"

// They share the geometry, the copy loops and one habit: a periodic image of the rank's own cells
// is copied in place while messages travel, never sent.

namespace parhelion::bench {

namespace {

/// Every message leaves as soon as it is packed, and is unpacked in the order of arrival.
template <bool persistent>
class PackedMessages {
public:
    PackedMessages(MPI_Comm comm, Messages messages)
        : comm_(comm), messages_(std::move(messages)), send_buffers_(messages_.sends),
          receive_buffers_(messages_.receives), sends_(messages_.sends.size(), MPI_REQUEST_NULL),
          receives_(messages_.receives.size(), MPI_REQUEST_NULL) {
        if constexpr (!persistent) return;
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            const Message& m = messages_.receives[i];
            MPI_Recv_init(receive_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_,
                          &receives_[i]);
        }
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            const Message& m = messages_.sends[i];
            MPI_Send_init(send_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, &sends_[i]);
        }
    }
    ~PackedMessages() {
        if constexpr (!persistent) return;
        for (MPI_Request& request : receives_) MPI_Request_free(&request);
        for (MPI_Request& request : sends_) MPI_Request_free(&request);
    }
    PackedMessages(const PackedMessages&) = delete;
    PackedMessages& operator=(const PackedMessages&) = delete;

    void post_receives() {
        if constexpr (persistent) {
            if (!receives_.empty())
                MPI_Startall(static_cast<int>(receives_.size()), receives_.data());
        } else {
            for (std::size_t i = 0; i < receives_.size(); ++i) {
                const Message& m = messages_.receives[i];
                MPI_Irecv(receive_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_,
                          &receives_[i]);
            }
        }
    }
    void pack_and_send() {
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            const Message& m = messages_.sends[i];
            pack_message(m, send_buffers_[i]);
            if constexpr (persistent) MPI_Start(&sends_[i]);
            else MPI_Isend(send_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, &sends_[i]);
        }
    }
    void copy_own_images() { copy_local(messages_.local); }
    void unpack_arrivals() {
        for (std::size_t left = receives_.size(); left > 0; --left) {
            int which = 0;
            MPI_Waitany(static_cast<int>(receives_.size()), receives_.data(), &which,
                        MPI_STATUS_IGNORE);
            const auto arrived = static_cast<std::size_t>(which);
            unpack_message(receive_buffers_[arrived], messages_.receives[arrived]);
        }
    }
    void wait_for_sends() {
        MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    }

    Traffic traffic() const { return traffic_of(messages_.sends); }

private:
    MPI_Comm comm_;
    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    std::vector<MPI_Request> sends_, receives_;
};

using IsendMessages = PackedMessages<false>;
using PersistentMessages = PackedMessages<true>;

// A vector over each level of strides, outward.
MPI_Datatype region_type(const Region& region) {
    MPI_Datatype type = contiguous_bytes(region.run_bytes);
    for (std::size_t level = 0; level < 3; ++level) {
        if (region.count[level] == 1) continue;
        MPI_Datatype outer = MPI_DATATYPE_NULL;
        MPI_Type_create_hvector(static_cast<int>(region.count[level]), 1, region.stride[level],
                                type, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    return type;
}

// For each message a datatype of all its regions at their absolute addresses, to use with
// MPI_BOTTOM.
void add_types(const std::vector<Message>& messages, Datatypes& types) {
    for (const Message& message : messages) {
        std::vector<MPI_Datatype> parts;
        std::vector<MPI_Aint> addresses;
        for (const Region& region : message.regions) {
            parts.push_back(region_type(region));
            MPI_Get_address(region.start, &addresses.emplace_back());
        }
        const std::vector<int> ones(parts.size(), 1);
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), addresses.data(),
                               parts.data(), &type);
        for (MPI_Datatype& part : parts) MPI_Type_free(&part);
        types.add(type);
    }
}

/// The MPI library packs and unpacks.
class TypedMessages {
public:
    TypedMessages(MPI_Comm comm, Messages messages) : messages_(std::move(messages)) {
        add_types(messages_.sends, send_types_);
        add_types(messages_.receives, receive_types_);
        for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
            const Message& m = messages_.receives[i];
            MPI_Recv_init(MPI_BOTTOM, 1, receive_types_[i], m.rank, m.tag, comm, receives_.add());
        }
        for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
            const Message& m = messages_.sends[i];
            MPI_Send_init(MPI_BOTTOM, 1, send_types_[i], m.rank, m.tag, comm, sends_.add());
        }
    }

    void post_receives() { receives_.start_all(); }
    void pack_and_send() { sends_.start_all(); }
    void copy_own_images() { copy_local(messages_.local); }
    void unpack_arrivals() { receives_.wait_all(); }
    void wait_for_sends() { sends_.wait_all(); }

    Traffic traffic() const { return traffic_of(messages_.sends); }

private:
    Messages messages_;
    Datatypes send_types_, receive_types_;
    PersistentRequests receives_, sends_;
};

/// Three steps to other nodes, see NodeAreas; neighbors on the node get messages of their own.
class NodeMessages {
public:
    NodeMessages(MPI_Comm comm, Messages messages) : areas_(comm) {
        sends_ = take_away(messages.sends);
        receives_ = take_away(messages.receives);
        near_ = std::make_unique<IsendMessages>(comm, std::move(messages));
        areas_.lay_out(parts_of(sends_), parts_of(receives_));
    }

    void post_receives() {
        near_->post_receives();
        areas_.post_receives();
    }
    void pack_and_send() {
        for (std::size_t i = 0; i < sends_.size(); ++i) pack_message(sends_[i], areas_.to_send(i));
        areas_.send();
        near_->pack_and_send();
    }
    void copy_own_images() { near_->copy_own_images(); }
    void unpack_arrivals() {
        near_->unpack_arrivals();
        areas_.await_receives();
        for (std::size_t i = 0; i < receives_.size(); ++i)
            unpack_message(areas_.received(i), receives_[i]);
    }
    void wait_for_sends() {
        near_->wait_for_sends();
        areas_.await_sends();
    }

    Traffic traffic() const { return areas_.traffic(near_->traffic()); }

private:
    static std::vector<NodeAreas::Part> parts_of(const std::vector<Message>& messages) {
        std::vector<NodeAreas::Part> parts;
        for (const Message& m : messages) parts.push_back({m.rank, m.tag, m.bytes});
        return parts;
    }
    // Takes those of other nodes out of the list.
    std::vector<Message> take_away(std::vector<Message>& messages) const {
        const auto first =
            std::stable_partition(messages.begin(), messages.end(),
                                  [&](const Message& m) { return !areas_.is_away(m.rank); });
        std::vector<Message> taken(std::make_move_iterator(first),
                                   std::make_move_iterator(messages.end()));
        messages.erase(first, messages.end());
        return taken;
    }

    NodeAreas areas_;
    std::vector<Message> sends_, receives_;  // to and from other nodes
    std::unique_ptr<IsendMessages> near_;
};

/// On the case's arrays, in two halves.
class HandHalo : public Variant {
public:
    explicit HandHalo(const HaloSetup& setup) : arrays_(setup.arrays) {}

    void exchange() final {
        begin();
        end();
    }
    bool has_halves() const final { return true; }
    Values& values() final { return *arrays_; }

private:
    std::shared_ptr<HaloArrays> arrays_;
};

/// One stage after the other, over any of the kinds of messages.
template <class Kind>
class Stages : public HandHalo {
public:
    Stages(const HaloSetup& setup, std::vector<Messages> stages) : HandHalo(setup) {
        for (Messages& stage : stages)
            stages_.push_back(std::make_unique<Kind>(setup.comm, std::move(stage)));
    }

    void begin() override {
        for (auto& stage : stages_) stage->post_receives();
        if (!stages_.empty()) send(*stages_.front());
    }
    void end() override {
        for (auto& stage : stages_) {
            if (&stage != &stages_.front()) send(*stage);
            stage->unpack_arrivals();
        }
        for (auto& stage : stages_) stage->wait_for_sends();
    }

    Traffic traffic() const override {
        Traffic total;
        for (const auto& stage : stages_)
            for (const Sent& message : stage->traffic().sent) total.add(message);
        return total;
    }

private:
    static void send(Kind& stage) {
        stage.pack_and_send();
        stage.copy_own_images();
    }
    std::vector<std::unique_ptr<Kind>> stages_;
};

/// All neighbors at once.
template <class Kind, Grouping grouping = Grouping::per_rank>
VariantPointer at_once(const HaloSetup& setup, SetupTimes& times) {
    std::vector<Messages> stages =
        timed(times.pattern, [&] { return std::vector{plan_messages(*setup.arrays, grouping)}; });
    return timed(times.plan,
                 [&] { return std::make_unique<Stages<Kind>>(setup, std::move(stages)); });
}

/// Dimension by dimension: two messages per dimension, which forward edges and corners.
template <class Kind>
VariantPointer staged(const HaloSetup& setup, SetupTimes& times) {
    if (!setup.geometry.full)
        throw CannotRun("stages serve to forward edges and corners; faces alone need none");
    std::vector<Messages> stages = timed(times.pattern, [&] {
        std::vector<Messages> all;
        for (int dim = 0; dim < setup.geometry.dims; ++dim)
            all.push_back(plan_dimension(*setup.arrays, dim));
        return all;
    });
    return timed(times.plan,
                 [&] { return std::make_unique<Stages<Kind>>(setup, std::move(stages)); });
}

/// Packed by rank.
template <bool persistent>
class NeighborAlltoallv : public HandHalo {
public:
    NeighborAlltoallv(const HaloSetup& setup, Messages messages)
        : HandHalo(setup), messages_(std::move(messages)), send_buffers_(messages_.sends),
          receive_buffers_(messages_.receives), sent_(messages_.sends, send_buffers_),
          received_(messages_.receives, receive_buffers_),
          neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
        if constexpr (persistent)
            MPI_Neighbor_alltoallv_init(send_buffers_.start(), sent_.counts.data(),
                                        sent_.offsets.data(), MPI_BYTE, receive_buffers_.start(),
                                        received_.counts.data(), received_.offsets.data(), MPI_BYTE,
                                        neighborhood_.get(), MPI_INFO_NULL, &request_);
#endif
    }
    ~NeighborAlltoallv() override {
        if (persistent) MPI_Request_free(&request_);
    }

    void begin() override {
        for (std::size_t i = 0; i < messages_.sends.size(); ++i)
            pack_message(messages_.sends[i], send_buffers_[i]);
        if constexpr (persistent) MPI_Start(&request_);
        else
            MPI_Ineighbor_alltoallv(send_buffers_.start(), sent_.counts.data(),
                                    sent_.offsets.data(), MPI_BYTE, receive_buffers_.start(),
                                    received_.counts.data(), received_.offsets.data(), MPI_BYTE,
                                    neighborhood_.get(), &request_);
        copy_local(messages_.local);
    }
    void end() override {
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
        for (std::size_t i = 0; i < messages_.receives.size(); ++i)
            unpack_message(receive_buffers_[i], messages_.receives[i]);
    }

    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    /// Counts and displacements in bytes; one spare entry, so that data() is valid without
    /// neighbors.
    struct Layout {
        std::vector<int> counts, offsets;
        Layout(const std::vector<Message>& messages, const MessageBuffers& buffers) {
            for (std::size_t i = 0; i < messages.size(); ++i) {
                counts.push_back(messages[i].count());
                offsets.push_back(static_cast<int>(buffers.offset(i)));
            }
            counts.push_back(0);
            offsets.push_back(0);
        }
    };

    Messages messages_;
    MessageBuffers send_buffers_, receive_buffers_;
    Layout sent_, received_;
    Neighborhood neighborhood_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

class NeighborAlltoallw : public HandHalo {
public:
    NeighborAlltoallw(const HaloSetup& setup, Messages messages)
        : HandHalo(setup), messages_(std::move(messages)),
          ones_(messages_.sends.size() + messages_.receives.size() + 1, 1), zeros_(ones_.size(), 0),
          neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {
        add_types(messages_.sends, send_types_);
        add_types(messages_.receives, receive_types_);
    }

    void begin() override {
        MPI_Ineighbor_alltoallw(MPI_BOTTOM, ones_.data(), zeros_.data(), send_types_.data(),
                                MPI_BOTTOM, ones_.data(), zeros_.data(), receive_types_.data(),
                                neighborhood_.get(), &request_);
        copy_local(messages_.local);
    }
    void end() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

    Traffic traffic() const override { return traffic_of(messages_.sends); }

private:
    Messages messages_;
    Datatypes send_types_, receive_types_;
    std::vector<int> ones_;
    std::vector<MPI_Aint> zeros_;
    Neighborhood neighborhood_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

template <class Baseline>
VariantPointer collective(const HaloSetup& setup, SetupTimes& times) {
    Messages messages =
        timed(times.pattern, [&] { return plan_messages(*setup.arrays, Grouping::per_rank); });
    return timed(times.plan,
                 [&] { return std::make_unique<Baseline>(setup, std::move(messages)); });
}

VariantPointer neighbor_alltoallv_init(const HaloSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
    if (MPI_Neighbor_alltoallv_init != nullptr)
        return collective<NeighborAlltoallv<true>>(setup, times);
#endif
    static_cast<void>(setup), static_cast<void>(times);
    throw CannotRun("this MPI is older than MPI 4, which brought persistent collectives");
}

constexpr TableRow<HaloSetup> by_hand[] = {
    {"hand_packed", "baseline", at_once<IsendMessages, Grouping::per_direction>},
    {"hand_packed_merged", "baseline", at_once<IsendMessages>},
    {"hand_persistent", "baseline", at_once<PersistentMessages, Grouping::per_direction>},
    {"hand_persistent_merged", "baseline", at_once<PersistentMessages>},
    {"hand_datatype", "baseline", at_once<TypedMessages, Grouping::per_direction>},
    {"hand_datatype_merged", "baseline", at_once<TypedMessages>},
    {"hand_neighbor_alltoallv", "baseline", collective<NeighborAlltoallv<false>>},
    {"hand_neighbor_alltoallv_init", "baseline", neighbor_alltoallv_init},
    {"hand_neighbor_alltoallw", "baseline", collective<NeighborAlltoallw>},
    {"hand_staged", "baseline", staged<PersistentMessages>},
    {"hand_staged_datatype", "baseline", staged<TypedMessages>},
    {"hand_nodes", "baseline", at_once<NodeMessages>, true},
};

}  // namespace

void add_by_hand(std::vector<Entry>& entries, const HaloSetup& setup) {
    add_rows(entries, by_hand, setup);
    entries.push_back(planted_fault(
        setup.comm,
        [=](SetupTimes& times) {
            return at_once<IsendMessages, Grouping::per_direction>(setup, times);
        },
        [arrays = setup.arrays](Variant&) { return arrays->field(0); }));
}

}  // namespace parhelion::bench
