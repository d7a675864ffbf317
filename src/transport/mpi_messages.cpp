// Messages by point-to-point calls of MPI: transports mpi_persistent and mpi_p2p.
//
// Persistent requests (MPI-4.1 §3.9) are matched and set up once for a buffer. Arrays may be others in the next exchange: what lies in
// them is sent and received by requests of that exchange, which MPI may match with persistent ones.
#include "transport/factories.hpp"
#include "transport/message_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

class MpiMessages final : public Messenger {
public:
    MpiMessages(const TransportContext& context, std::vector<Channel> channels, bool persistent)
        : arrays_(context.arrays), comm_(context.plan.communicator().handle()), tag_(context.tag), persistent_(persistent),
          channels_(std::move(channels)) {
        for (int i = 0; i < static_cast<int>(channels_.size()); ++i) {
            const Channel& channel = channels_[static_cast<std::size_t>(i)];
            send_types_.emplace_back(channel.send_bytes);
            receive_types_.emplace_back(channel.receive_bytes);
            send_of_.push_back(sends_.size());
            if (channel.send_bytes > 0) add_send(i);
            if (channel.receive_bytes > 0) add_receive(i);
        }
    }

    // In the order of the channels, for messages of one tag arrive in the order of the receives.
    void start_receives() override {
        for (int r = 0; r < receives_.size(); ++r) {
            const auto i = static_cast<std::size_t>(receives_.channel(r));
            const Channel& channel = channels_[i];
            if (is_persistent(channel.receives_array())) receives_.start(r);
            else
                check_reached(MPI_Irecv(channel.target(arrays_.bases()), receive_types_[i].count(), receive_types_[i].type(), channel.rank,
                                        tag_, comm_, &receives_[r]),
                              channel.rank, "MPI_Irecv");
        }
    }
    void start_send(int number) override {
        const auto i = static_cast<std::size_t>(number);
        const Channel& channel = channels_[i];
        if (is_persistent(channel.sends_array())) sends_.start(send_of_[i]);
        else
            check_reached(MPI_Isend(channel.source(arrays_.bases()), send_types_[i].count(), send_types_[i].type(), channel.rank, tag_,
                                    comm_, &sends_[send_of_[i]]),
                          channel.rank, "MPI_Isend");
    }
    int test_receive() override {
        const int done = receives_.test_any();
        return done < 0 ? -1 : receives_.channel(done);
    }
    bool test_sends() override { return sends_.test_all(); }
    bool settle() override { return receives_.settle() & sends_.settle(); }

private:
    bool is_persistent(bool in_array) const { return persistent_ && !in_array; }

    void add_send(int number) {
        const auto i = static_cast<std::size_t>(number);
        const Channel& channel = channels_[i];
        MPI_Request& request = sends_.add(number, channel.rank);
        if (is_persistent(channel.sends_array()))
            check_mpi(MPI_Send_init(channel.send, send_types_[i].count(), send_types_[i].type(), channel.rank, tag_, comm_, &request),
                      "MPI_Send_init");
    }
    void add_receive(int number) {
        const auto i = static_cast<std::size_t>(number);
        const Channel& channel = channels_[i];
        MPI_Request& request = receives_.add(number, channel.rank);
        if (is_persistent(channel.receives_array()))
            check_mpi(
                MPI_Recv_init(channel.receive, receive_types_[i].count(), receive_types_[i].type(), channel.rank, tag_, comm_, &request),
                "MPI_Recv_init");
    }

    const BoundArrays& arrays_;
    MPI_Comm comm_;
    int tag_;
    bool persistent_;
    std::vector<Channel> channels_;
    std::vector<MessageType> send_types_, receive_types_;
    std::vector<int> send_of_;  // index of a channel's send request
    RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};
};

}  // namespace

std::unique_ptr<Messenger> make_mpi_messenger(const TransportContext& context, std::vector<Channel> channels) {
#ifdef PARHELION_SIMULATED  // persistent requests hang there when they are started again
    constexpr bool persistent = false;
#else
    constexpr bool persistent = true;
#endif
    return std::make_unique<MpiMessages>(context, std::move(channels), persistent);
}

std::unique_ptr<Transport> make_mpi_p2p(const TransportContext& context) {
    return make_message_transport(context, [](const TransportContext& with, std::vector<Channel> channels) {
        return std::make_unique<MpiMessages>(with, std::move(channels), false);
    });
}

std::unique_ptr<Transport> make_mpi_persistent(const TransportContext& context) {
    context.plan.communicator().node();  // pieces go to other nodes
    const auto make = [](const TransportContext& with, std::vector<Channel> channels) {
        return std::make_unique<MpiMessages>(with, std::move(channels), true);
    };
    return make_message_transport(context, make, {.pieces = true});
}

}  // namespace parhelion
