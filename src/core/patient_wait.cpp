#include "core/patient_wait.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/left_behind.hpp"
#include "core/lost_rank.hpp"
#include "core/rank_names.hpp"
#include "core/time_limit.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

using Clock = std::chrono::steady_clock;

// Where a rank waits.
struct Note {
    std::uint64_t number = 0;
    std::array<char, 120> call{};

    std::string text() const {
        return std::string(call.data()) + " (its call " + std::to_string(number) + ")";
    }
};

Note own_note() {
    Note note;
    const Doing* const doing = Doing::now();
    const std::string call = doing != nullptr ? doing->call() : "a collective call";
    call.copy(note.call.data(), note.call.size() - 1);
    if (doing != nullptr) note.number = doing->number();
    return note;
}

// Where a rank was lost MPI may refuse; what this rank waits in fails, then, too.
bool some_note_came(const Communicator& comm) {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, Communicator::roll_call_tag, comm.handle(), &there,
               MPI_STATUS_IGNORE);
    return there != 0;
}

// MPI may still send it when this rank has given up.
void tell_all(const Communicator& comm, const Note& mine) {
    struct Sent {
        Note note;
        std::vector<MPI_Request> requests;
    };
    const auto sent = std::make_shared<Sent>(Sent{mine, {}});
    for (int rank = 0; rank < comm.size(); ++rank)
        if (rank != comm.rank())
            check_mpi(
                MPI_Isend(&sent->note, sizeof(Note), MPI_BYTE, rank, Communicator::roll_call_tag,
                          comm.handle(), &sent->requests.emplace_back()),
                "MPI_Isend");
    leave_behind(sent);
}

std::map<int, Note> hear_others(const Communicator& comm) {
    constexpr std::chrono::milliseconds patience{1500},
        pause{1};  // ranks that wait look ten times a second
    std::map<int, Note> notes;
    const auto limit = Clock::now() + patience;
    while (static_cast<int>(notes.size()) + 1 < comm.size() && Clock::now() < limit) {
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        check_mpi(MPI_Improbe(MPI_ANY_SOURCE, Communicator::roll_call_tag, comm.handle(), &there,
                              &message, &status),
                  "MPI_Improbe");
        if (there != 0)
            check_mpi(MPI_Mrecv(&notes[status.MPI_SOURCE], sizeof(Note), MPI_BYTE, &message,
                                MPI_STATUS_IGNORE),
                      "MPI_Mrecv");
        else std::this_thread::sleep_for(pause);
    }
    return notes;
}

std::string who_is_where(const Communicator& comm, const std::map<int, Note>& notes) {
    std::map<std::string, std::vector<int>> at;
    std::vector<int> silent;
    for (int rank = 0; rank < comm.size(); ++rank) {
        const auto note = notes.find(rank);
        note == notes.end() ? silent.push_back(rank) : at[note->second.text()].push_back(rank);
    }
    std::string text;
    for (const auto& [call, ranks] : at)
        text += (text.empty() ? "" : "; ") + named_ranks(ranks) +
                (ranks.size() > 1 ? " are in " : " is in ") + call;
    if (!silent.empty())
        text += "; " + named_ranks(silent) +
                (silent.size() > 1 ? " have not called" : " has not called") +
                " (no answer: not in a set-up call of this library)";
    return text;
}

[[noreturn]] void give_up(const Communicator& comm, const std::string& why) {
    const Note mine = own_note();
    tell_all(comm, mine);
    std::map<int, Note> notes = hear_others(comm);
    notes[comm.rank()] = mine;
    throw Error(
        why + ": " + who_is_where(comm, notes) +
            ". Make the same set-up calls in the same order on every rank of the communicator "
            "(PARHELION_TIMEOUT sets the limit)",
        ErrorKind::timeout);
}

// For a wait on `comm` that began at `since`, from time to time: throws Error when it has taken
// longer than the time limit, and when another rank has given up. Before that, ranks that wait tell
// each other in which call they are; the others do not answer. What they waited for is under way
// yet, so that the communicator is of no more use.
void look_at_the_clock(const Communicator& comm, Clock::time_point since) {
    const Doing* const doing = Doing::now();
    const Communicator& all = doing != nullptr ? doing->communicator() : comm;
    const double limit_s = setup_time_limit(doing != nullptr ? doing->timeout_s() : 0);
    if (some_note_came(all)) give_up(all, "a rank has given up waiting for others");
    if (limit_s > 0 && std::chrono::duration<double>(Clock::now() - since).count() >= limit_s)
        give_up(all, "not all ranks have come within " + seconds_text(limit_s));
}

}  // namespace

void PatientWait::look() {
    constexpr std::chrono::milliseconds every{100};
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < every) return;
    looked_ = now;
    look_for_lost();
    look_at_the_clock(comm_, since_);
}

void PatientWait::look_for_lost() {
    const Lookout& lookout = comm_.shared_state<Lookout>();
    if (!lookout.lost) return;
    const int before = std::exchange(suspect_, lookout.lost());
    if (suspect_ < 0 || suspect_ != before) return;  // what it sent last may just have come
    lookout.tell(suspect_);
    throw LostRank(suspect_, std::string(" while an exchange was made") + lost_rank_remedy);
}

void allreduce(const Communicator& comm, const void* mine, void* all, int count, MPI_Datatype type,
               MPI_Op operation) {
#ifdef PARHELION_SIMULATED  // its own is made of messages between all ranks
    check_mpi(MPI_Allreduce(mine, all, count, type, operation, comm.handle()), "MPI_Allreduce");
#else
    const MPI_Comm handle =
        comm.handle();  // throws where MPI has ended: before anything is asked of it
    int size = 0;
    MPI_Type_size(type, &size);
    const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
    const auto buffer = std::make_shared<std::vector<std::byte>>(2 * bytes);
    std::memcpy(buffer->data(), mine, bytes);
    try {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Iallreduce(buffer->data(), buffer->data() + bytes, count, type, operation,
                                 handle, &request),
                  "MPI_Iallreduce");
        PatientWait patience(comm);
        for (int done = 0;; patience.wait()) {
            check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done) break;
        }
    } catch (...) {
        leave_behind(buffer);  // MPI may still use it
        throw;
    }
    std::memcpy(all, buffer->data() + bytes, bytes);
#endif
}

}  // namespace parhelion
