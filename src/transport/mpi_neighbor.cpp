// One neighborhood collective on a communicator whose graph is the pattern (MPI-4.1 §8.6), persistent where the MPI has it.
#include "transport/factories.hpp"
#include "transport/message_type.hpp"

namespace parhelion {
namespace {

// The w variant: displacements are addresses, so that messages may lie anywhere and be of any size.
class Neighborhood final : public Messenger {
public:
    Neighborhood(const TransportContext& context, const std::vector<Channel>& channels) {
        std::vector<int> ranks, weights;
        for (const Channel& channel : channels) {
            ranks.push_back(channel.rank);
            weights.push_back(1);
            add(channel.send, channel.send_bytes, sends_);
            add(channel.receive, channel.receive_bytes, receives_);
            receives_something_.push_back(channel.receive_bytes > 0);
        }
        const int degree = static_cast<int>(ranks.size());
        check_mpi(MPI_Dist_graph_create_adjacent(context.plan.communicator().handle(), degree, ranks.data(), weights.data(),
                  degree, ranks.data(), weights.data(), MPI_INFO_NULL, 0, &graph_), "MPI_Dist_graph_create_adjacent");
        check_mpi(MPI_Comm_set_errhandler(graph_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
#if MPI_VERSION >= 4
        check_mpi(MPI_Neighbor_alltoallw_init(MPI_BOTTOM, sends_.counts.data(), sends_.places.data(), sends_.types.data(),
                  MPI_BOTTOM, receives_.counts.data(), receives_.places.data(), receives_.types.data(), graph_,
                  MPI_INFO_NULL, &request_), "MPI_Neighbor_alltoallw_init");
#endif
    }
    ~Neighborhood() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (finalized || !settled_) return;  // MPI refuses to free a collective that is under way, and what it is made of
        if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
        MPI_Comm_free(&graph_);
    }

    void start_receives() override {
        next_ = 0;
        done_ = false;
    }
    void start_send(int) override {}
    void flush() override {
#if MPI_VERSION >= 4
        check_mpi(MPI_Start(&request_), "MPI_Start");
#else
        check_mpi(MPI_Ineighbor_alltoallw(MPI_BOTTOM, sends_.counts.data(), sends_.places.data(), sends_.types.data(),
                  MPI_BOTTOM, receives_.counts.data(), receives_.places.data(), receives_.types.data(), graph_, &request_),
                  "MPI_Ineighbor_alltoallw");
#endif
    }
    int test_receive() override {
        if (!test_sends()) return -1;
        while (next_ < receives_something_.size() && !receives_something_[next_]) ++next_;
        return next_ < receives_something_.size() ? static_cast<int>(next_++) : -1;
    }
    bool test_sends() override {
        if (done_) return true;
        int flag = 0;
        check_mpi(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
        return done_ = flag != 0;
    }

    bool settle() override {
        if (done_) return true;
        constexpr double patience_s = 1;
        settled_ = false;
        int over = 0;
        for (const double start = MPI_Wtime(); !settled_ && MPI_Wtime() - start < patience_s;) {
            if (MPI_Test(&request_, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
            settled_ = over != 0;
        }
        return settled_;
    }

private:
    struct Side {
        std::vector<int> counts;
        std::vector<MPI_Aint> places;
        std::vector<MPI_Datatype> types;
        std::vector<MessageType> owned;
    };
    static void add(std::byte* buffer, byte_count bytes, Side& side) {
        const MessageType& type = side.owned.emplace_back(bytes);
        MPI_Aint place = 0;
        MPI_Get_address(buffer, &place);
        side.counts.push_back(type.count());
        side.types.push_back(type.type());
        side.places.push_back(place);
    }

    Side sends_, receives_;
    std::vector<bool> receives_something_;
    MPI_Comm graph_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::size_t next_ = 0;
    bool done_ = true, settled_ = true;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_neighbor(const TransportContext& context) {
    return make_message_transport(context, [](const TransportContext& with, std::vector<Channel> channels, Direction) {
        return std::make_unique<Neighborhood>(with, channels);
    });
}

}  // namespace parhelion
