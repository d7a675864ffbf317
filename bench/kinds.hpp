#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "variant.hpp"

// Hand-written exchanges over lists of messages:
//
//     struct Messages {
//         std::vector<Message> sends, receives;   // Message: an Envelope and its content
//         std::shared_ptr<Array> array;           // Array: the Values
//         static constexpr bool in_place;         // receive at place(), without unpacking
//         void pack(const Message&, std::byte* to) const;
//         void unpack(const std::byte* from, const Message&) const;
//         std::byte* place(const Message&) const;
//         void copy_own_images() const;
//     };
//
// A *kind* has the steps of an exchange, called in this order: post_receives, send, unpack,
// wait_for_sends.

namespace parhelion::bench {

template <class Message>
std::vector<int> ranks_of(const std::vector<Message>& messages) {
  std::vector<int> ranks;
  for (const Message& message : messages) ranks.push_back(message.rank);
  return ranks;
}

template <class Message>
Traffic traffic_of(const std::vector<Message>& sends) {
  Traffic traffic;
  for (const Message& message : sends) traffic.add({message.rank, message.count()});
  return traffic;
}

template <class Message>
std::vector<std::size_t> offsets_of(const std::vector<Message>& messages, std::size_t alignment) {
  std::vector<std::size_t> offsets{0};
  for (const Message& message : messages)
    offsets.push_back(offsets.back() + (message.bytes + alignment - 1) / alignment * alignment);
  return offsets;
}

class MessageBuffers {
 public:
  static constexpr std::size_t line = 64;

  MessageBuffers() = default;
  template <class Message>
  explicit MessageBuffers(const std::vector<Message>& messages)
      : offsets_(offsets_of(messages, line)), memory_(1, offsets_.back()) {}
  std::byte* start() const { return memory_.block(0); }
  std::byte* operator[](std::size_t message) const { return start() + offsets_[message]; }

 private:
  std::vector<std::size_t> offsets_;
  PrivateMemory memory_{0, 0};
};

/// Counts and displacements of a collective in bytes; a spare entry keeps data() valid without
/// neighbors.
struct Layout {
  std::vector<int> counts, offsets;
  template <class Message>
  explicit Layout(const std::vector<Message>& messages, std::size_t alignment) {
    for (std::size_t offset : offsets_of(messages, alignment))
      offsets.push_back(static_cast<int>(offset));
    for (const Message& message : messages) counts.push_back(message.count());
    counts.push_back(0);
  }
};

template <class Messages>
class Kind {
 public:
  explicit Kind(Messages messages) : messages_(std::move(messages)) {}
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  void post_receives() {}
  void unpack() {}
  void wait_for_sends() {}
  const Messages& messages() const { return messages_; }
  Traffic traffic() const { return traffic_of(messages_.sends); }

 protected:
  Messages messages_;
};

/// Sends each message as soon as it is packed; unpacks in the order of arrival.
template <class Messages, bool persistent>
class PackedMessages : public Kind<Messages> {
  using Kind<Messages>::messages_;

 public:
  template <class Setup>
  PackedMessages(const Setup& setup, Messages messages)
      : Kind<Messages>(std::move(messages)), comm_(setup.comm), send_buffers_(messages_.sends),
        requests_(messages_.receives.size() + messages_.sends.size(), MPI_REQUEST_NULL),
        sends_(requests_.data() + messages_.receives.size()) {
    if constexpr (!Messages::in_place) receive_buffers_ = MessageBuffers(messages_.receives);
    if constexpr (!persistent) return;
    each_receive(MPI_Recv_init);
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
      const auto& m = messages_.sends[i];
      MPI_Send_init(send_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, &sends_[i]);
    }
  }
  ~PackedMessages() {
    if constexpr (!persistent) return;
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void post_receives() {
    if constexpr (!persistent) each_receive(MPI_Irecv);
    else if (!messages_.receives.empty()) MPI_Startall(receives(), requests_.data());
  }
  void send() {
    for (std::size_t i = 0; i < messages_.sends.size(); ++i) {
      const auto& m = messages_.sends[i];
      messages_.pack(m, send_buffers_[i]);
      if constexpr (persistent) MPI_Start(&sends_[i]);
      else MPI_Isend(send_buffers_[i], m.count(), MPI_BYTE, m.rank, m.tag, comm_, &sends_[i]);
    }
    messages_.copy_own_images();
  }
  void unpack() {
    if constexpr (Messages::in_place) {
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    } else {
      for (std::size_t left = messages_.receives.size(); left > 0; --left) {
        int which = 0;
        MPI_Waitany(receives(), requests_.data(), &which, MPI_STATUS_IGNORE);
        const auto arrived = static_cast<std::size_t>(which);
        messages_.unpack(receive_buffers_[arrived], messages_.receives[arrived]);
      }
    }
  }
  void wait_for_sends() {
    if constexpr (!Messages::in_place)
      MPI_Waitall(static_cast<int>(messages_.sends.size()), sends_, MPI_STATUSES_IGNORE);
  }

 private:
  int receives() const { return static_cast<int>(messages_.receives.size()); }
  template <class Call>
  void each_receive(Call call) {
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
      const auto& m = messages_.receives[i];
      std::byte* to = nullptr;
      if constexpr (Messages::in_place) to = messages_.place(m);
      else to = receive_buffers_[i];
      call(to, m.count(), MPI_BYTE, m.rank, m.tag, comm_, &requests_[i]);
    }
  }

  MPI_Comm comm_;
  MessageBuffers send_buffers_, receive_buffers_;
  std::vector<MPI_Request> requests_;  // receives, then sends
  MPI_Request* sends_;
};

template <class Kind>
class AtOnce final : public Variant {
 public:
  template <class Setup, class Messages>
  AtOnce(const Setup& setup, Messages messages) : kind_(setup, std::move(messages)) {}

  void exchange() override {
    AtOnce::begin();
    AtOnce::end();
  }
  bool has_halves() const override { return true; }
  void begin() override {
    kind_.post_receives();
    kind_.send();
  }
  void end() override {
    kind_.unpack();
    kind_.wait_for_sends();
  }
  void exchange_in_phases(Phases& seconds) override {
    timed(seconds[0], [&] { kind_.post_receives(); });
    timed(seconds[1], [&] { kind_.send(); });
    timed(seconds[2], [&] { kind_.unpack(); });
    timed(seconds[3], [&] { kind_.wait_for_sends(); });
  }
  Values& values() override { return *kind_.messages().array; }
  Traffic traffic() const override { return kind_.traffic(); }

 private:
  Kind kind_;
};

template <class Kind, class Setup, class Find>
VariantPointer make_at_once(const Setup& setup, SetupTimes& times, Find&& find) {
  auto messages = timed(times.pattern, find);
  return timed(
      times.plan, [&] { return std::make_unique<AtOnce<Kind>>(setup, std::move(messages)); });
}

/// A lower bound: ranks copy the cells directly between their arrays, with one flag each way.
///
/// No program could use it. The flag says only that this step's copies are done (put) or may begin
/// (get), not that a neighbor still reads cells of the previous step, so the checks put a barrier
/// between steps. Any exchange must do as much: read and write every byte once, and learn that the
/// neighbor is done.
template <class Copy, class Array>
class Floor : public Variant {
 public:
  Values& values() final { return *array_; }
  Traffic traffic() const final { return traffic_; }
  bool needs_barrier_between_steps() const final { return true; }

  void exchange() final {
    const Step& step = steps_[++count_ % 2];
    run(step.before_flag);
    memory_->post(count_);
    run(step.while_waiting);
    for (int rank : awaited_) memory_->wait_for(rank, count_);
    run(step.after_flag);
  }

 protected:
  /// Copies of one step. Steps alternate between two lists, so that no rank writes a buffer that
  /// another still reads.
  struct Step {
    std::vector<Copy> before_flag, while_waiting, after_flag;
  };

  Floor(std::shared_ptr<OpenMemory> memory, std::shared_ptr<Array> array)
      : memory_(std::move(memory)), array_(std::move(array)) {}

  std::shared_ptr<OpenMemory> memory_;
  std::shared_ptr<Array> array_;
  Step steps_[2];
  std::vector<int> awaited_;  // ranks to wait for
  Traffic traffic_;

 private:
  static void run(const std::vector<Copy>& copies) {
    for (const Copy& each : copies) each();
  }
  std::uint32_t count_ = 0;
};

}  // namespace parhelion::bench
