// The waits and the one reduction behind every collective step.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/cores.hpp"
#include "core/time_limit.hpp"
#include "parhelion/core/collective.hpp"
#include "parhelion/core/sparse_exchange.hpp"

namespace parhelion {

enum class Combine : std::uint64_t { none, sum, largest, either };

/// What a rank brings into the reduction, and what all get. It has one form wherever ranks meet, so
/// that a rank that has failed, or that is in another call, meets the others in whichever they are.
struct Contribution {
    static constexpr std::size_t most_values = 32;
    std::uint64_t complaint;  ///< size − rank, or 0
    std::uint64_t left;       ///< 1: this rank leaves the call
    std::uint64_t print[2];   ///< x and ~x: equal everywhere if and only if max(x) = ~max(~x)
    std::uint64_t call[2];    ///< likewise
    std::uint64_t next_tag;
    std::uint64_t combine;  ///< Combine, of the values
    std::array<std::uint64_t, most_values> values;
};

/// The complaint of one rank, on its way to all. Text beyond it is cut: nobody allocates before the
/// message has come.
struct ToldComplaint {
    std::int32_t kind = 0, length = 0;
    std::array<char, 4088> text{};
};

struct Note {
    std::uint64_t number = 0;
    std::array<char, 120> call{};
};

/// Ranks that wait for so long tell a few where they are, and one of those warns.
constexpr double told_after_s = 3.5, warned_after_s = 5;
/// All of a few ranks, 8 of many.
constexpr bool tells_of_waits(int rank, int size) {
    return size <= 8 || std::int64_t{rank} * 8 % size < 8;
}
constexpr const char* same_calls_everywhere =
    "Make the same set-up calls in the same order on every rank of the communicator "
    "(PARHELION_TIMEOUT sets the limit)";

/// Of a communicator (Communicator::collective_state): allocated with it, so that no step needs
/// memory.
struct CollectiveState {
    std::uint64_t calls = 0;
    std::uint64_t entered = 0, completed = 0;  ///< reductions
    std::uint64_t failed_after =
        0;  ///< 1 + the reductions that a rank had entered when it failed; 0: none has
    Contribution mine{}, all{};
    MPI_Request under_way = MPI_REQUEST_NULL;
    ToldComplaint told{};
    std::array<std::uint64_t, 64>
        failures{};  ///< what this rank has sent when it failed; MPI may read it late
    std::size_t failures_told = 0;
    std::uint64_t told_waiting = 0, warned = 0;  ///< the last call in which this rank did so
    std::map<int, Note> waiting{};               ///< where others have told that they wait
    /// How a rank that has ended is noticed: given by whoever can tell, once it can.
    std::function<int()> lost{};           ///< a rank that has ended, or −1
    std::function<void(int)> tell_lost{};  ///< lets neighbors know of it
    CpuMask node_threads{};                ///< on which at least one rank of the node may run
};

/// Thrown out of a wait for a message because another rank has failed in this collective call, and
/// caught in CollectiveCall::fail alone.
struct OtherRankFailed {};

/// Throws OtherRankFailed where another rank of this thread's collective call has told so. Local.
void look_for_failed();

/// Gives the core away as Patience does, and looks for lost and failed ranks and at the time limit
/// ten times a second.
class PatientWait {
public:
    /// `for_all`: in the reduction that failed ranks come to, too.
    explicit PatientWait(const Communicator& comm, bool for_all = false);
    /// Call when a poll found nothing. Throws LostRank, OtherRankFailed, and Error when it takes
    /// longer than the time limit or another rank has given up: then ranks tell each other in which
    /// call they wait.
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
    int complainer = -1;  ///< the lowest rank that complains, or −1
    bool equal = true;    ///< all prints
    bool left = false;    ///< a rank leaves the call
};

/// Collective, begun; `is_over` until it returns true, then `end`. One at a time on a communicator.
void begin_agreement(const Communicator& comm, std::uint64_t print = 0);
bool agreement_is_over(const Communicator& comm);
/// Throws the complaint that a rank had on every rank. Whether all prints are equal.
bool end_agreement(const Communicator& comm);

/// Collective, one reduction for `most_values` values: of each the sum, the largest or the union of
/// bits over all ranks. Throws the complaint that a rank came with on every rank.
void reduce(const Communicator& comm, Combine how, std::span<std::uint64_t> values);

/// One message to, or from, a rank, patiently.
void send_message(const Communicator& comm, Message message, const Tag& tag);
Message receive_message(const Communicator& comm, int rank, const Tag& tag);

/// Collective, along a tree of messages. The bytes of `source` on every rank.
Message broadcast(const Communicator& comm, Message message, int source = 0);
/// Collective, along a tree of messages. What all ranks have, in rank order, at rank 0; nothing
/// elsewhere.
std::vector<Message> gather(const Communicator& comm, Message own);

/// Collective: MPI_Comm_split, which knows no time limit, right after an agreement, which does.
MPI_Comm split(const Communicator& comm, MPI_Comm of, int color, int key);

/// Collective. The combination of the values of all ranks before this one, by messages; `first` on
/// rank 0.
std::int64_t before_this_rank(
    const Communicator& comm, std::int64_t mine, std::int64_t first,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& combine);

}  // namespace parhelion
