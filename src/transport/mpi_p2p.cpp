// MPI_Irecv and MPI_Isend anew for every exchange.
#include "transport/factories.hpp"
#include "transport/message_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

class PointToPoint final : public Messenger {
public:
    PointToPoint(const TransportContext& context, std::vector<Channel> channels)
        : comm_(context.plan.communicator().handle()), tag_(context.tag), channels_(std::move(channels)) {
        for (int i = 0; i < static_cast<int>(channels_.size()); ++i) {
            const Channel& channel = channels_[static_cast<std::size_t>(i)];
            send_types_.emplace_back(channel.send_bytes);
            receive_types_.emplace_back(channel.receive_bytes);
            send_of_.push_back(channel.send_bytes > 0 ? sends_.size() : -1);
            if (channel.send_bytes > 0) sends_.add(i, channel.rank);
            if (channel.receive_bytes > 0) receives_.add(i, channel.rank);
        }
    }

    void start_receives() override {
        for (int r = 0; r < receives_.size(); ++r) {
            const auto i = static_cast<std::size_t>(receives_.channel(r));
            check_mpi(MPI_Irecv(channels_[i].receive, receive_types_[i].count(), receive_types_[i].type(), channels_[i].rank,
                                tag_, comm_, &receives_[static_cast<std::size_t>(r)]), "MPI_Irecv");
        }
    }
    void start_send(int channel) override {
        const auto i = static_cast<std::size_t>(channel);
        check_mpi(MPI_Isend(channels_[i].send, send_types_[i].count(), send_types_[i].type(), channels_[i].rank, tag_, comm_,
                            &sends_[static_cast<std::size_t>(send_of_[i])]), "MPI_Isend");
    }
    int test_receive() override {
        const int done = receives_.test_any();
        return done < 0 ? -1 : receives_.channel(done);
    }
    bool test_sends() override { return sends_.test_all(); }
    bool settle() override { return receives_.settle() & sends_.settle(); }

private:
    MPI_Comm comm_;
    int tag_;
    std::vector<Channel> channels_;
    std::vector<MessageType> send_types_, receive_types_;
    std::vector<int> send_of_;
    RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};
};

}  // namespace

std::unique_ptr<Transport> make_mpi_p2p(const TransportContext& context) {
    return make_message_transport(context, [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<PointToPoint>(with, std::move(channels));
    });
}

}  // namespace parhelion
