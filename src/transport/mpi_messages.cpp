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
    for (const Channel& channel : channels_) {
      send_types_.emplace_back(channel.send.bytes);
      receive_types_.emplace_back(channel.receive.bytes);
      for (RequestSet* set : {&sends_, &receives_}) set->add(channel.rank);
    }
  }

  // In channel order: messages of one tag match in order.
  void start_receives() override {
    for (int i = 0; i < receives_.size(); ++i) {
      const Channel& channel = channels_[i];
      if (channel.receive.bytes == 0) continue;
      check_reached(MPI_Irecv(channel.receive.in(arrays_.bases()), receive_types_[i].count(),
                        receive_types_[i].type(), channel.rank, tag_, comm_, &receives_[i]),
          channel.rank, "MPI_Irecv");
    }
  }
  void start_send(int i) override {
    const Channel& channel = channels_[i];
    check_reached(MPI_Isend(channel.send.in(arrays_.bases()), send_types_[i].count(),
                      send_types_[i].type(), channel.rank, tag_, comm_, &sends_[i]),
        channel.rank, "MPI_Isend");
  }
  int test_receive() override { return receives_.test_any(); }
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
  RequestSet sends_{RequestSet::Kind::sends}, receives_{RequestSet::Kind::receives};  // by channel
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
