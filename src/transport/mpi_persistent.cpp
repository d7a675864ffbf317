// Persistent requests: matched arguments are set up once (MPI-4.1 §3.9).
//
// For boxes there are two ways to fill a message: pack it here, or describe the boxes by datatypes and let MPI gather while it
// copies, which saves a copy where the MPI is good at it. Both are tried for a few exchanges when the exchange is made.
#include <algorithm>

#include "core/patient_wait.hpp"
#include "parhelion/core/communicator.hpp"
#include "plan/saved_ghosts.hpp"
#include "transport/factories.hpp"
#include "transport/left_behind.hpp"
#include "transport/message_type.hpp"
#include "transport/program_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

// Started and completed alike for packed and typed messages.
class Requests {
public:
    RequestSet sends{RequestSet::Kind::sends}, receives{RequestSet::Kind::receives};
    std::vector<int> send_of;  // index of a channel's send request

    int ready() {
        const int done = receives.test_any();
        return done < 0 ? -1 : receives.channel(done);
    }
    bool settle() { return receives.settle() & sends.settle(); }
};

class Persistent final : public Messenger {
public:
    Persistent(const TransportContext& context, const std::vector<Channel>& channels) {
        const MPI_Comm comm = context.plan.communicator().handle();
        for (int i = 0; i < static_cast<int>(channels.size()); ++i) {
            const Channel& channel = channels[static_cast<std::size_t>(i)];
            requests_.send_of.push_back(requests_.sends.size());
            if (channel.send_bytes > 0) {
                const MessageType type(channel.send_bytes);
                check_mpi(MPI_Send_init(channel.send, type.count(), type.type(), channel.rank, context.tag, comm,
                                        &requests_.sends.add(i, channel.rank)), "MPI_Send_init");
            }
            if (channel.receive_bytes > 0) {
                const MessageType type(channel.receive_bytes);
                check_mpi(MPI_Recv_init(channel.receive, type.count(), type.type(), channel.rank, context.tag, comm,
                                        &requests_.receives.add(i, channel.rank)), "MPI_Recv_init");
            }
        }
    }

    void start_receives() override { requests_.receives.start_in_order(); }
    void start_send(int channel) override {
        const int request = requests_.send_of[static_cast<std::size_t>(channel)];
        check_mpi(MPI_Start(&requests_.sends[static_cast<std::size_t>(request)]), "MPI_Start");
    }
    int test_receive() override { return requests_.ready(); }
    bool test_sends() override { return requests_.sends.test_all(); }
    bool settle() override { return requests_.settle(); }

private:
    Requests requests_;
};

// The forward direction by datatypes: no buffers at all.
class Typed {
public:
    Typed(const TransportContext& context, int unit) : plan_(context.plan), links_(context.links) {
        for (int i = 0; i < static_cast<int>(links_.size()); ++i) {
            const LinkPlan& link = *links_[static_cast<std::size_t>(i)];
            if (link.forward.send_bytes > 0) add(context, link, Side::source, unit, requests_.sends.add(i, link.rank));
            if (link.forward.receive_bytes > 0) add(context, link, Side::destination, unit, requests_.receives.add(i, link.rank));
            missing_.push_back(false);
        }
    }
    ~Typed() {
        if (!requests_.settle()) leave_arrays_behind(plan_);
    }
    void begin() {
        ++number_;
        for (std::size_t i = 0; i < links_.size(); ++i) missing_[i] = links_[i]->forward.receive_bytes > 0;
        requests_.receives.start_all();
        requests_.sends.start_all();
    }
    int ready() {
        const int slot = requests_.ready();
        if (slot >= 0) missing_[static_cast<std::size_t>(slot)] = false;
        return slot;
    }
    void deliver(int slot) {
        run(links_[static_cast<std::size_t>(slot)]->repeat, plan_.bases.data(), plan_.bases.data());
    }
    bool finished() { return requests_.sends.test_all(); }
    std::string state(int slot) const {
        const LinkPlan& link = *links_[static_cast<std::size_t>(slot)];
        if (!missing_[static_cast<std::size_t>(slot)]) return {};
        return waiting_text(link.forward.receive_bytes, link.rank, number_);
    }

private:
    void add(const TransportContext& context, const LinkPlan& link, Side side, int unit, MPI_Request& request) {
        const MPI_Comm comm = plan_.communicator().handle();
        const Program& program = side == Side::source ? link.forward.pack : link.forward.unpack;
        MPI_Datatype type = program_type(program, plan_.bases.data(), side, unit);
        if (side == Side::source)
            check_mpi(MPI_Send_init(MPI_BOTTOM, 1, type, link.rank, context.tag, comm, &request), "MPI_Send_init");
        else
            check_mpi(MPI_Recv_init(MPI_BOTTOM, 1, type, link.rank, context.tag, comm, &request), "MPI_Recv_init");
        MPI_Type_free(&type);  // the request keeps it
    }

    const Plan& plan_;
    std::vector<const LinkPlan*> links_;
    Requests requests_;
    std::vector<bool> missing_;
    std::uint64_t number_ = 0;
};

// Packed messages, or datatypes for the forward direction when they turn out faster.
class PersistentTransport final : public Transport {
public:
    PersistentTransport(const TransportContext& context, std::unique_ptr<Transport> packed)
        : plan_(context.plan), packed_(std::move(packed)) {
        if (!has_forward(context.lanes) || plan_.pattern->indexed() || plan_.communicator().size() == 1) return;  // on all ranks
        const int unit = unit_of_all_ranks(context);
        if (unit == 0) return;
        const SavedGhosts ghosts(plan_);
        try_typed(context, unit);
        ghosts.restore();
    }

    void begin(Direction direction) override { use_typed(direction) ? typed_->begin() : packed_->begin(direction); }
    int ready(Direction direction) override { return use_typed(direction) ? typed_->ready() : packed_->ready(direction); }
    void deliver(int slot, Direction direction, Reduction reduction) override {
        use_typed(direction) ? typed_->deliver(slot) : packed_->deliver(slot, direction, reduction);
    }
    bool finished(Direction direction) override {
        return use_typed(direction) ? typed_->finished() : packed_->finished(direction);
    }
    int expected(Direction direction) const override { return packed_->expected(direction); }
    std::string state(int slot, Direction direction) const override {
        return use_typed(direction) ? typed_->state(slot) : packed_->state(slot, direction);
    }

private:
    static constexpr int most_rounds = 3;
    static constexpr int exchanges_per_round = 2;
    static constexpr double clearly_behind = 1.25;
    static constexpr double clear_win = 0.95;
    static constexpr double hopeless = 1.5;  // so far behind after a round that more rounds are not worth their time

    // The widest number that suits all ranks. 0 where some rank has falling strides: they are left to packing, for MPIs have been
    // seen to move other bytes for them. So are messages whose parts an int may not count.
    int unit_of_all_ranks(const TransportContext& context) const {
        int mine = rising_strides() ? 8 : 0, all = 0;
        for (const LinkPlan* link : context.links) {
            if (std::max(link->forward.send_bytes, link->forward.receive_bytes) > largest_count()) mine = 0;
            mine = std::min(mine, widest_unit(link->forward.pack, plan_.bases.data(), Side::source));
            mine = std::min(mine, widest_unit(link->forward.unpack, plan_.bases.data(), Side::destination));
        }
        allreduce(plan_.communicator(), &mine, &all, 1, MPI_INT, MPI_MIN);
        return all;
    }

    bool rising_strides() const {
        bool rising = true;
        for (const Field& field : plan_.fields)
            for (std::size_t b = 0; b < field.blocks.size(); ++b) {
                rising = rising && (field.components == 1 || field.stride_of_components(b) > 0);
                for (int d = 0; d < plan_.pattern->dimensions; ++d) rising = rising && field.blocks[b].strides[d] > 0;
            }
        return rising;
    }

    bool use_typed(Direction direction) const { return typed_ && direction == Direction::forward; }

    template <class Way>
    static double seconds_of(const Communicator& comm, Way& way, int exchanges, int expected) {
        const double start = MPI_Wtime();
        for (int i = 0; i < exchanges; ++i) {
            PatientWait patience(comm);
            way.begin();
            for (int missing = expected; missing > 0;)
                if (const int slot = way.ready(); slot >= 0) {
                    way.deliver(slot);
                    --missing;
                } else {
                    patience.wait();
                }
            while (!way.finished()) patience.wait();
        }
        return (MPI_Wtime() - start) / exchanges;
    }

    // Collective: of the slowest rank. What comes before may have left the arrays in other caches: the first exchange does not count.
    template <class Way>
    double round_of(Way& way, int expected) const {
        const Communicator& comm = plan_.communicator();
        seconds_of(comm, way, 1, expected);
        double seconds = seconds_of(comm, way, exchanges_per_round, expected);
        allreduce(comm, &seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX);
        return seconds;
    }

    struct Packed {
        Transport& transport;
        void begin() { transport.begin(Direction::forward); }
        int ready() { return transport.ready(Direction::forward); }
        void deliver(int slot) { transport.deliver(slot, Direction::forward, Reduction::replace); }
        bool finished() { return transport.finished(Direction::forward); }
    };

    // Collective. The best round of each counts. Packing, whose worst is not far from its best on any MPI, may win after one
    // round; datatypes have to win over the best of three, for a round of packing may have been disturbed.
    void try_typed(const TransportContext& context, int unit) {
        Packed packed{*packed_};
        const int expected = packed_->expected(Direction::forward);
        double packed_s = round_of(packed, expected);
        if (context.rival_s > 0 && packed_s > hopeless * context.rival_s) return;
        typed_ = std::make_unique<Typed>(context, unit);
        double typed_s = round_of(*typed_, expected);
        for (int round = 1; round < most_rounds && typed_s < hopeless * packed_s && !beaten(context, packed_s, typed_s); ++round) {
            packed_s = std::min(packed_s, round_of(packed, expected));
            typed_s = std::min(typed_s, round_of(*typed_, expected));
        }
        if (typed_s >= clear_win * packed_s) typed_.reset();
    }
    static bool beaten(const TransportContext& context, double a, double b) {
        return context.rival_s > 0 && std::min(a, b) > clearly_behind * context.rival_s;
    }

    const Plan& plan_;
    std::unique_ptr<Transport> packed_;
    std::unique_ptr<Typed> typed_;
};

}  // namespace

std::unique_ptr<Transport> make_packed_persistent(const TransportContext& context) {
    context.plan.communicator().node();
    const auto make = [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<Persistent>(with, channels);
    };
    return make_message_transport(context, make, {.pieces = true});
}

std::unique_ptr<Transport> make_mpi_persistent(const TransportContext& context) {
    return std::make_unique<PersistentTransport>(context, make_packed_persistent(context));
}

}  // namespace parhelion
