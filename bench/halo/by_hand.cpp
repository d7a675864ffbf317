#include "halo/by_hand.hpp"

#include "halo/messages.hpp"
#include "kinds.hpp"
#include "mpi_handles.hpp"

// While messages travel, all variants copy own cells to ghosts that are periodic copies of them.

namespace parhelion::bench {

namespace {

using IsendMessages = PackedMessages<Messages, false>;
using PersistentMessages = PackedMessages<Messages, true>;

// Nested MPI hvectors, one per stride.
MPI_Datatype region_type(const Region& region) {
  MPI_Datatype type = contiguous_bytes(region.run_bytes);
  for (std::size_t level = 0; level < 3; ++level) {
    if (region.count[level] == 1) continue;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(
        static_cast<int>(region.count[level]), 1, region.stride[level], type, &outer);
    MPI_Type_free(&type);
    type = outer;
  }
  return type;
}

// Adds a datatype per message: all of its regions at absolute addresses, for use with MPI_BOTTOM.
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
    MPI_Type_create_struct(
        static_cast<int>(parts.size()), ones.data(), addresses.data(), parts.data(), &type);
    for (MPI_Datatype& part : parts) MPI_Type_free(&part);
    types.add(type);
  }
}

class TypedMessages : public Kind<Messages> {
 public:
  TypedMessages(const HaloSetup& setup, Messages messages) : Kind(std::move(messages)) {
    add_types(messages_.sends, send_types_);
    add_types(messages_.receives, receive_types_);
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
      const Message& m = messages_.receives[i];
      MPI_Recv_init(MPI_BOTTOM, 1, receive_types_[i], m.rank, m.tag, setup.comm, receives_.add());
    }
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
      const Message& m = messages_.sends[i];
      MPI_Send_init(MPI_BOTTOM, 1, send_types_[i], m.rank, m.tag, setup.comm, sends_.add());
    }
  }

  void post_receives() { receives_.start_all(); }
  void send() {
    sends_.start_all();
    messages_.copy_own_images();
  }
  void unpack() { receives_.wait_all(); }
  void wait_for_sends() { sends_.wait_all(); }

 private:
  Datatypes send_types_, receive_types_;
  PersistentRequests receives_, sends_;
};

template <bool persistent>
class NeighborAlltoallv : public Kind<Messages> {
 public:
  NeighborAlltoallv(const HaloSetup& setup, Messages messages)
      : Kind(std::move(messages)), send_buffers_(messages_.sends),
        receive_buffers_(messages_.receives), sent_(messages_.sends, MessageBuffers::line),
        received_(messages_.receives, MessageBuffers::line),
        neighborhood_(setup.comm, ranks_of(messages_.receives), ranks_of(messages_.sends)) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
    if constexpr (persistent)
      MPI_Neighbor_alltoallv_init(send_buffers_.start(), sent_.counts.data(), sent_.offsets.data(),
          MPI_BYTE, receive_buffers_.start(), received_.counts.data(), received_.offsets.data(),
          MPI_BYTE, neighborhood_.get(), MPI_INFO_NULL, &request_);
#endif
  }
  ~NeighborAlltoallv() {
    if (persistent) MPI_Request_free(&request_);
  }

  void send() {
    for (std::size_t i = 0; i < messages_.sends.size(); ++i)
      messages_.pack(messages_.sends[i], send_buffers_[i]);
    if constexpr (persistent) MPI_Start(&request_);
    else
      MPI_Ineighbor_alltoallv(send_buffers_.start(), sent_.counts.data(), sent_.offsets.data(),
          MPI_BYTE, receive_buffers_.start(), received_.counts.data(), received_.offsets.data(),
          MPI_BYTE, neighborhood_.get(), &request_);
    messages_.copy_own_images();
  }
  void unpack() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < messages_.receives.size(); ++i)
      messages_.unpack(receive_buffers_[i], messages_.receives[i]);
  }

 private:
  MessageBuffers send_buffers_, receive_buffers_;
  Layout sent_, received_;
  Neighborhood neighborhood_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

template <class Kind, Grouping grouping = Grouping::per_rank>
VariantPointer at_once(const HaloSetup& setup, SetupTimes& times) {
  return make_at_once<Kind>(setup, times, [&] { return plan_messages(setup.arrays, grouping); });
}

VariantPointer neighbor_alltoallv_init(const HaloSetup& setup, SetupTimes& times) {
#ifdef PARHELION_HAS_PERSISTENT_COLLECTIVES
  if (MPI_Neighbor_alltoallv_init != nullptr) return at_once<NeighborAlltoallv<true>>(setup, times);
#endif
  static_cast<void>(setup), static_cast<void>(times);
  throw CannotRun("persistent collectives need MPI 4");
}

/// Dimension by dimension: two messages each, which forward edges and corners.
template <class Kind>
class Stages final : public Variant {
 public:
  Stages(const HaloSetup& setup, std::vector<Messages> stages) : arrays_(setup.arrays) {
    for (Messages& stage : stages)
      stages_.push_back(std::make_unique<Kind>(setup, std::move(stage)));
  }

  void exchange() override {
    begin();
    end();
  }
  bool has_halves() const override { return true; }
  void begin() override {
    for (auto& stage : stages_) stage->post_receives();
    if (!stages_.empty()) stages_.front()->send();
  }
  void end() override {
    for (auto& stage : stages_) {
      if (&stage != &stages_.front()) stage->send();
      stage->unpack();
    }
    for (auto& stage : stages_) stage->wait_for_sends();
  }
  Values& values() override { return *arrays_; }
  Traffic traffic() const override {
    Traffic total;
    for (const auto& stage : stages_)
      for (const Sent& message : stage->traffic().sent) total.add(message);
    return total;
  }

 private:
  std::shared_ptr<HaloArrays> arrays_;
  std::vector<std::unique_ptr<Kind>> stages_;
};

template <class Kind>
VariantPointer staged(const HaloSetup& setup, SetupTimes& times) {
  if (!setup.geometry.full)
    throw CannotRun("without edges and corners, stages have nothing to forward");
  std::vector<Messages> stages;
  timed(times.pattern, [&] {
    for (int dim = 0; dim < setup.geometry.dims; ++dim)
      stages.push_back(plan_dimension(setup.arrays, dim));
  });
  return timed(
      times.plan, [&] { return std::make_unique<Stages<Kind>>(setup, std::move(stages)); });
}

constexpr TableRow<HaloSetup> by_hand[] = {
    {"hand_packed", "baseline", at_once<IsendMessages, Grouping::per_direction>},
    {"hand_packed_merged", "baseline", at_once<IsendMessages>},
    {"hand_persistent", "baseline", at_once<PersistentMessages, Grouping::per_direction>},
    {"hand_persistent_merged", "baseline", at_once<PersistentMessages>},
    {"hand_datatype", "baseline", at_once<TypedMessages, Grouping::per_direction>},
    {"hand_datatype_merged", "baseline", at_once<TypedMessages>},
    {"hand_neighbor_alltoallv", "baseline", at_once<NeighborAlltoallv<false>>},
    {"hand_neighbor_alltoallv_init", "baseline", neighbor_alltoallv_init},
    {"hand_staged", "baseline", staged<PersistentMessages>},
    {"hand_staged_datatype", "baseline", staged<TypedMessages>},
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
