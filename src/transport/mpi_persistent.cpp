// Persistent requests: matched arguments are set up once (MPI-4.1 §3.9).
#include "transport/factories.hpp"
#include "transport/message_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

class Persistent final : public Messenger {
public:
    Persistent(const TransportContext& context, const std::vector<Channel>& channels) {
        const MPI_Comm comm = context.plan.communicator().handle();
        for (int i = 0; i < static_cast<int>(channels.size()); ++i) {
            const Channel& channel = channels[static_cast<std::size_t>(i)];
            send_of_.push_back(sends_.size());
            if (channel.send_bytes > 0) {
                const MessageType type(channel.send_bytes);
                check_mpi(MPI_Send_init(channel.send, type.count(), type.type(), channel.rank, context.tag, comm,
                                        &sends_.add(i)), "MPI_Send_init");
            }
            if (channel.receive_bytes > 0) {
                const MessageType type(channel.receive_bytes);
                check_mpi(MPI_Recv_init(channel.receive, type.count(), type.type(), channel.rank, context.tag, comm,
                                        &receives_.add(i)), "MPI_Recv_init");
            }
        }
    }

    void start_receives() override { receives_.start_all(); }
    void start_send(int channel) override {
        check_mpi(MPI_Start(&sends_[static_cast<std::size_t>(send_of_[static_cast<std::size_t>(channel)])]), "MPI_Start");
    }
    int test_receive() override {
        const int done = receives_.test_any();
        return done < 0 ? -1 : receives_.channel(done);
    }
    bool test_sends() override { return sends_.test_all(); }

private:
    std::vector<int> send_of_;
    RequestSet sends_, receives_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_persistent(const TransportContext& context) {
    return make_message_transport(context, [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<Persistent>(with, channels);
    });
}

}  // namespace parhelion
