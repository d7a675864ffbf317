// Transport mpi_neighbor: one neighborhood collective on a distributed graph communicator (MPI-4.1
// §8.6), persistent if MPI supports it.
#include "core/collective_step.hpp"
#include "core/made_comms.hpp"
#include "core/orphans.hpp"
#include "transport/factories.hpp"
#include "transport/message_type.hpp"

#if MPI_VERSION >= 4
// Weak: an MPI of the same ABI may lack it; then null.
#pragma weak MPI_Neighbor_alltoallw_init
#endif

namespace parhelion {
namespace {

// alltoallw, with addresses as displacements: messages of any place and size.
class Neighborhood final : public Messenger {
 public:
  Neighborhood(const TransportContext& context, const std::vector<Channel>& channels) {
    std::vector<int> ranks, weights;
    for (const Channel& channel : channels) {
      ranks.push_back(channel.rank);
      weights.push_back(1);
      add(channel.send, sides_->sends);
      add(channel.receive, sides_->receives);
    }
    const int degree = ranks.size();
    const Communicator& comm = context.plan.communicator();
    auto& made = comm.shared_state<MadeComms>();
    made.free_dropped(comm);
    graph_ = create_comm(comm, [=, all = comm.handle()] {
      MPI_Comm graph = MPI_COMM_NULL;
      check_mpi(MPI_Dist_graph_create_adjacent(all, degree, ranks.data(), weights.data(), degree,
                    ranks.data(), weights.data(), MPI_INFO_NULL, 0, &graph),
          "MPI_Dist_graph_create_adjacent");
      return graph;
    });
    graph_use_ = made.add(graph_);
    check_mpi(MPI_Comm_set_errhandler(graph_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
#if MPI_VERSION >= 4
    if (MPI_Neighbor_alltoallw_init == nullptr) return;
    check_mpi(call(MPI_Neighbor_alltoallw_init, MPI_INFO_NULL), "MPI_Neighbor_alltoallw_init");
#endif
  }
  // A pending collective can be neither cancelled nor freed (MPI-4.1 §6.12, §6.13): orphans its
  // memory.
  ~Neighborhood() override {
    if (settle()) {
      if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
      return;
    }
    orphan(std::move(sides_));
    graph_use_.keep();
  }

  void start_receives() override {
    next_ = 0;
    done_ = false;
  }
  void start_send(int) override {}
  void flush() override {
    if (request_ != MPI_REQUEST_NULL) check_mpi(MPI_Start(&request_), "MPI_Start");
    else check_mpi(call(MPI_Ineighbor_alltoallw), "MPI_Ineighbor_alltoallw");
  }
  int test_receive() override {
    if (!test_sends()) return -1;
    const std::vector<int>& counts = sides_->receives.counts;
    while (next_ < counts.size() && counts[next_] == 0) ++next_;
    return next_ < counts.size() ? static_cast<int>(next_++) : -1;
  }
  bool test_sends() override {
    if (done_) return true;
    int flag = 0;
    check_mpi(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return done_ = flag != 0;
  }
  /// Waits at most 1 s for a failed exchange's collective.
  bool settle() override {
    constexpr double patience_s = 1;
    if (mpi_has_ended() || given_up_) return false;
    int over = done_;
    for (const double start = MPI_Wtime(); !over && MPI_Wtime() - start < patience_s;)
      if (MPI_Test(&request_, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    done_ = over != 0;
    given_up_ = !done_;
    return done_;
  }

 private:
  struct Side {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    std::vector<MessageType> owned;
  };
  struct Sides {
    Side sends, receives;
  };
  template <class Function, class... Rest>
  int call(Function function, Rest... rest) {
    const auto& [out, in] = *sides_;
    return function(MPI_BOTTOM, out.counts.data(), out.places.data(), out.types.data(), MPI_BOTTOM,
        in.counts.data(), in.places.data(), in.types.data(), graph_, rest..., &request_);
  }
  static void add(const MessagePlace& place, Side& side) {
    const MessageType& type = side.owned.emplace_back(place.bytes);
    side.counts.push_back(type.count());
    side.types.push_back(type.type());
    MPI_Get_address(place.buffer, &side.places.emplace_back());
  }

  std::shared_ptr<Sides> sides_ = std::make_shared<Sides>();
  MPI_Comm graph_ = MPI_COMM_NULL;
  MadeComms::Use graph_use_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::size_t next_ = 0;
  bool done_ = true, given_up_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_neighbor(const TransportContext& context) {
  const auto make = [](const TransportContext& with, const std::vector<Channel>& channels) {
    return std::make_unique<Neighborhood>(with, channels);
  };
  // The persistent collective has fixed addresses.
  return make_message_transport(context, make, {.in_place = false});
}

}  // namespace parhelion
