// The reduction and the waits of all collective calls.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "core/resources.hpp"
#include "core/time_limit.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {

enum class Combine : std::uint64_t { none, sum, largest, either };

/// Operand and result of the reduction, in one layout: ranks in different calls, and failed ones,
/// match.
struct Contribution {
  static constexpr std::size_t most_values = 32;
  std::uint64_t complaint;  ///< size − rank (the largest: the lowest rank), and size if it leaves
  std::uint64_t left;       ///< 1: this rank leaves the call
  std::uint64_t print[2];   ///< x and ~x: equal everywhere iff max(x) = ~max(~x)
  std::uint64_t call[2];    ///< likewise
  std::uint64_t next_tag;
  Combine combine;
  std::array<std::uint64_t, most_values> values;
};

/// One rank's complaint, cut to a fixed buffer, so that receivers allocate nothing.
struct ToldComplaint {
  std::int32_t kind = 0, length = 0;
  std::array<char, 4088> text{};
};

struct Note {
  std::uint64_t number = 0;
  std::array<char, 120> call{};
};

/// Ranks that wait this long send notes to a few ranks; one of those warns.
constexpr double told_after_s = 3.5, warned_after_s = 5;
/// Whether `rank` is one of the at most 8 that receive notes.
constexpr bool tells_of_waits(int rank, int size) {
  return size <= 8 || std::int64_t{rank} * 8 % size < 8;
}
constexpr const char* same_calls_everywhere =
    "Make the same set-up calls in the same order on every rank of the communicator "
    "(PARHELION_TIMEOUT sets the limit)";

/// Per communicator (Communicator::collective_state), allocated with it: collective calls need no
/// memory.
struct CollectiveState {
  std::uint64_t calls = -1;                  ///< beside the first, number 0
  std::uint64_t entered = 0, completed = 0;  ///< reductions
  std::uint64_t failed_after = 0;            ///< 1 + reductions entered by the failed rank, else 0
  Contribution mine{}, all{};
  MPI_Request under_way = MPI_REQUEST_NULL;
  ToldComplaint told{};
  std::array<std::uint64_t, 64> failures{};  ///< failures sent; MPI may read them late
  std::size_t failures_told = 0;
  std::uint64_t told_waiting = -1, warned = -1;  ///< last call that did
  std::map<int, Note> waiting{};                 ///< by rank: notes of waiting ranks
  /// Detects ended ranks, if available.
  std::function<int()> lost{};           ///< an ended rank, or −1
  std::function<void(int)> tell_lost{};  ///< notifies neighbors
  CpuMask node_threads{};                ///< usable by any rank of the node
  std::recursive_mutex thread{};         ///< locked during a call
};

/// Interrupts waits for messages after another rank failed in this call. Only CollectiveCall::fail
/// catches it.
struct OtherRankFailed {};

/// Throws OtherRankFailed when a rank has failed in this thread's collective call. Local.
void look_for_failed();

/// Yields as Patience; looks for failed ranks, and ten times a second for lost ones and the time
/// limit.
class PatientWait {
 public:
  /// `for_all`: for the reduction, which failed ranks join too.
  explicit PatientWait(const Communicator& comm, bool for_all = false);
  /// Call after an empty poll. Throws LostRank, OtherRankFailed, and, when this or another rank
  /// gives up, Error with the calls in which ranks wait.
  void wait() {
    patience_.wait();
    if (++polls_ % 64 == 0) look();
  }

 private:
  void look();
  void look_for_lost();
  const Communicator& comm_;
  bool for_all_;
  Patience patience_;
  std::uint64_t polls_ = 0;
  int suspect_ = -1;
  WaitTime waited_;
};

/// Waits for an operation on `comm`'s memory, which failed ranks join too.
template <class IsOver>
void await(const Communicator& comm, IsOver&& is_over) {
  try {
    for (PatientWait patience(comm, true); !is_over();) patience.wait();
  } catch (...) {
    comm.abandon();
    throw;
  }
}

struct Agreement {
  int complainer = -1;  ///< lowest complaining rank, first of those that leave the call, or −1
  bool equal = true;    ///< all prints
  bool left = false;    ///< a rank leaves the call
};

/// Collective: begins the reduction, one at a time per communicator. Poll agreement_is_over until
/// true, then call end_agreement.
void begin_agreement(const Communicator& comm, std::uint64_t print = 0);
bool agreement_is_over(const Communicator& comm);
/// Throws a rank's complaint everywhere. Returns whether all prints are equal.
bool end_agreement(const Communicator& comm);

/// Collective: elementwise sum, maximum or bitwise or; one reduction per `most_values` values.
/// Throws a rank's complaint everywhere.
void reduce(const Communicator& comm, Combine how, std::span<std::uint64_t> values);

template <class List>
Message message_of(const List& list, int rank = 0) {
  Message message{rank, {}};
  message.append(list.data(), list.size());
  return message;
}

/// Waits with PatientWait.
void send_message(const Communicator& comm, Message message, const Tag& tag);
Message receive_message(const Communicator& comm, int rank, const Tag& tag);

/// Collective, over a tree. Returns the bytes of `source` everywhere.
Message broadcast(const Communicator& comm, Message message, int source = 0);
/// Of rank 0: plain values or a text.
template <class List>
List from_first(const Communicator& comm, const List& list) {
  const auto values =
      broadcast(comm, message_of(list)).template values<typename List::value_type>();
  return {values.begin(), values.end()};
}
/// Collective, over a tree. Returns all messages in rank order on rank 0, nothing elsewhere.
std::vector<Message> gather(const Communicator& comm, Message own);

/// Collective. Throws Error everywhere unless all pass the same, existing root.
void require_root(int root, const Communicator& comm);

/// A call that creates a communicator: MPI has no nonblocking form. With a time limit, where MPI
/// serves all threads, a thread makes it, so that the caller can look at the clock. Only the
/// constructor allocates.
class BlockingCall {
 public:
  explicit BlockingCall(std::function<MPI_Comm()> make);
  /// A thread that is still in the call stays there.
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
  void start(double limit_s);
  /// Poll until true, then call result, which throws what `make` threw.
  bool is_over() const;
  MPI_Comm result();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Collective: an agreement, then `make`, as a BlockingCall.
MPI_Comm create_comm(const Communicator& comm, std::function<MPI_Comm()> make);
/// By MPI_Comm_split.
MPI_Comm split(const Communicator& comm, MPI_Comm of, int color, int key);

/// Collective, by messages: the exclusive scan; `first` on rank 0.
std::int64_t before_this_rank(const Communicator& comm, std::int64_t mine, std::int64_t first,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& combine);

}  // namespace parhelion
