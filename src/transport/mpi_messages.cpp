// Transport mpi: MPI_Isend and MPI_Irecv.
#include "transport/factories.hpp"
#include "transport/message_type.hpp"
#include "transport/request_set.hpp"

namespace parhelion {
namespace {

class MpiMessages final : public Messenger {
 public:
  MpiMessages(const TransportContext& context, std::vector<Channel> channels)
      : arrays_(context.arrays), comm_(context.plan.communicator().handle()), tag_(context.tag),
        channels_(std::move(channels)) {
    for (int i = 0; i < static_cast<int>(channels_.size()); ++i) {
      const Channel& channel = channels_[i];
      send_types_.emplace_back(channel.send.bytes);
      receive_types_.emplace_back(channel.receive.bytes);
      send_of_.push_back(sends_.size());
      if (channel.send.bytes > 0) sends_.add(i, channel.rank);
      if (channel.receive.bytes > 0) receives_.add(i, channel.rank);
    }
  }

  // In channel order: messages of one tag match receives in order.
  void start_receives() override {
    for (int r = 0; r < receives_.size(); ++r) {
      const int i = receives_.channel(r);
      const Channel& channel = channels_[i];
      check_reached(MPI_Irecv(channel.receive.in(arrays_.bases()), receive_types_[i].count(),
                        receive_types_[i].type(), channel.rank, tag_, comm_, &receives_[r]),
          channel.rank, "MPI_Irecv");
    }
  }
  void start_send(int i) override {
    const Channel& channel = channels_[i];
    check_reached(MPI_Isend(channel.send.in(arrays_.bases()), send_types_[i].count(),
                      send_types_[i].type(), channel.rank, tag_, comm_, &sends_[send_of_[i]]),
        channel.rank, "MPI_Isend");
  }
  int test_receive() override {
    const int done = receives_.test_any();
    return done < 0 ? -1 : receives_.channel(done);
  }
  bool test_sends() override { return sends_.test_all(); }
  bool settle() override {
    const bool settled = receives_.settle() & sends_.settle();
    if (!settled || receives_.cancelled()) tag_.keep();
    return settled;
  }

 private:
  const BoundArrays& arrays_;
  MPI_Comm comm_;
  Tag tag_;
  std::vector<Channel> channels_;
  std::vector<MessageType> send_types_, receive_types_;
  std::vector<int> send_of_;  // by channel: index of its send request
  RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};
};

}  // namespace

std::unique_ptr<Messenger> make_mpi_messenger(
    const TransportContext& context, std::vector<Channel> channels) {
  return std::make_unique<MpiMessages>(context, std::move(channels));
}

std::unique_ptr<Transport> make_mpi(const TransportContext& context) {
#ifdef PARHELION_SIMULATED  // the simulation has no TCP packets
  constexpr bool pieces = false;
#else
  constexpr bool pieces = true;
  context.plan.communicator().node();  // collective; tells which neighbors get chunks
#endif
  return make_message_transport(context, make_mpi_messenger, {.pieces = pieces});
}

}  // namespace parhelion
