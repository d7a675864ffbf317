// The reduction and the waits of all collective calls.
#pragma once

#include <array>
#include <atomic>
#include <map>

#include "core/resources.hpp"
#include "core/time_limit.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {

enum class Combine : std::uint64_t { none, sum, largest, either };

/// Operand and result of the reduction. All calls use the same layout, so that ranks in different
/// calls, and failed ones, still match.
struct Contribution {
  static constexpr std::size_t most_values = 32;
  std::uint64_t complaint;  ///< size − rank, or 0: the largest is of the lowest rank
  std::uint64_t left;       ///< 1: this rank leaves the call
  std::uint64_t print[2];   ///< x and ~x: equal everywhere if and only if max(x) = ~max(~x)
  std::uint64_t call[2];    ///< likewise
  std::uint64_t next_tag;
  Combine combine;
  std::array<std::uint64_t, most_values> values;
};

/// Broadcast of one rank's complaint. A fixed buffer truncates the text, so that receivers allocate
/// nothing.
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
/// Whether `rank` receives notes: all of up to 8 ranks, else 8.
constexpr bool tells_of_waits(int rank, int size) {
  return size <= 8 || std::int64_t{rank} * 8 % size < 8;
}
constexpr const char* same_calls_everywhere =
    "Make the same set-up calls in the same order on every rank of the communicator "
    "(PARHELION_TIMEOUT sets the limit)";

/// State per communicator (Communicator::collective_state), allocated with it so that collective
/// calls need no memory.
struct CollectiveState {
  std::uint64_t calls = 0;
  std::uint64_t entered = 0, completed = 0;  ///< numbers of reductions
  std::uint64_t failed_after = 0;  ///< 1 + reductions entered by the failed rank; 0: none failed
  Contribution mine{}, all{};
  MPI_Request under_way = MPI_REQUEST_NULL;
  ToldComplaint told{};
  std::array<std::uint64_t, 64> failures{};  ///< failures sent; MPI may read them late
  std::size_t failures_told = 0;
  std::uint64_t told_waiting = 0, warned = 0;  ///< the last call that did so
  std::map<int, Note> waiting{};               ///< by rank: notes of waiting ranks
  /// Detection of ended ranks, installed when available.
  std::function<int()> lost{};           ///< an ended rank, or −1
  std::function<void(int)> tell_lost{};  ///< notifies neighbors
  CpuMask node_threads{};                ///< hardware threads that any rank of the node may use
};

/// Interrupts a wait for a message when another rank failed in this collective call. Only
/// CollectiveCall::fail catches it.
struct OtherRankFailed {};

/// Throws OtherRankFailed when a rank has failed in this thread's collective call. Local.
void look_for_failed();

/// Yields the core as Patience does; checks for lost and failed ranks and the time limit ten times
/// a second.
class PatientWait {
 public:
  /// `for_all`: for the reduction, which failed ranks join too.
  explicit PatientWait(const Communicator& comm, bool for_all = false);
  /// Call when a poll found nothing. Throws LostRank, OtherRankFailed, and, after the time limit
  /// or when another rank has given up, Error with the calls in which ranks wait.
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

struct Agreement {
  int complainer = -1;  ///< lowest complaining rank, or −1
  bool equal = true;    ///< all prints are equal
  bool left = false;    ///< a rank leaves the call
};

/// Collective: begins the reduction. Poll agreement_is_over until true, then call end_agreement.
/// One at a time per communicator.
void begin_agreement(const Communicator& comm, std::uint64_t print = 0);
bool agreement_is_over(const Communicator& comm);
/// Throws a rank's complaint on every rank. Returns whether all prints are equal.
bool end_agreement(const Communicator& comm);

/// Collective, one reduction per `most_values` values: elementwise sum, maximum or bitwise or.
/// Throws a rank's complaint on every rank.
void reduce(const Communicator& comm, Combine how, std::span<std::uint64_t> values);

/// A list of plain values or a text as a message.
template <class List>
Message message_of(const List& list, int rank = 0) {
  Message message{rank, {}};
  message.append(list.data(), list.size());
  return message;
}

/// Sends or receives one message; waits with PatientWait.
void send_message(const Communicator& comm, Message message, const Tag& tag);
Message receive_message(const Communicator& comm, int rank, const Tag& tag);

/// Collective, over a tree of messages. Returns the bytes of `source` on every rank.
Message broadcast(const Communicator& comm, Message message, int source = 0);
/// The same for a list of plain values or a text. Returns that of rank 0.
template <class List>
List from_first(const Communicator& comm, const List& list) {
  const auto values =
      broadcast(comm, message_of(list)).template values<typename List::value_type>();
  return {values.begin(), values.end()};
}
/// Collective, over a tree of messages. Returns all messages in rank order at rank 0, nothing
/// elsewhere.
std::vector<Message> gather(const Communicator& comm, Message own);

/// Collective. Throws Error on every rank unless all pass the same, existing root.
void require_root(int root, const Communicator& comm);

/// Collective: MPI_Comm_split, which has no time limit, right after an agreement, which has.
MPI_Comm split(const Communicator& comm, MPI_Comm of, int color, int key);

/// Collective, by messages: the exclusive scan; `first` on rank 0.
std::int64_t before_this_rank(const Communicator& comm, std::int64_t mine, std::int64_t first,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& combine);

}  // namespace parhelion
