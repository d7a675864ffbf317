#include "exchange/call_check.hpp"

#include <algorithm>
#include <utility>

#include "core/orphans.hpp"
#include "exchange/waiter.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "transport/node/watch.hpp"

namespace parhelion {

CallCheck::CallCheck(const Communicator& comm, std::vector<int> neighbors, double timeout_s)
    : comm_(comm), neighbors_(std::move(neighbors)), timeout_s_(timeout_s), tag_(comm.next_tag()),
      watched_(comm.shared_state<Watch>().node()), sent_(std::make_shared<AllSent>()) {
    for (const int rank : neighbors_) heard_[rank] = 0;
}

// A record that its neighbor has not taken yet may still be read by MPI. One that this rank has not
// taken would be received by whatever had the tag next.
CallCheck::~CallCheck() {
    if (mpi_has_ended() || !std::all_of(sent_->begin(), sent_->end(), is_over)) orphan(sent_);
    if (mpi_has_ended() || !has_taken_all()) tag_.keep();
}

bool CallCheck::has_taken_all() noexcept {
    try {
        take();
    } catch (...) {
        return false;
    }
    return difference_.print == 0 &&
           std::ranges::all_of(heard_, [&](const auto& of) { return of.second == told_; });
}

CallCheck::Record CallCheck::record_of(std::uint64_t number, std::uint64_t print,
                                       const std::string& text) {
    Record record{number, print, {}};
    text.copy(record.call.data(), record.call.size() - 1);
    return record;
}

bool CallCheck::is_over(Sent& sent) {
    int over = 0;
    MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &over,
                MPI_STATUSES_IGNORE);
    return over != 0;
}

std::uint64_t CallCheck::tell(const std::string& call) {
    while (!sent_->empty() && is_over(sent_->front())) sent_->pop_front();
    send(mine_.emplace_back(record_of(++told_, Hash().add_range(call).value(), call)));
    return told_;
}

void CallCheck::send(const Record& record) {
    Sent& sent = sent_->emplace_back(
        Sent{record, std::vector<MPI_Request>(neighbors_.size(), MPI_REQUEST_NULL)});
    for (std::size_t i = 0; i < neighbors_.size(); ++i)
        check_mpi(MPI_Isend(&sent.record, sizeof(Record), MPI_BYTE, neighbors_[i], tag_,
                            comm_.handle(), &sent.requests[i]),
                  "MPI_Isend");
}

void CallCheck::await(std::uint64_t number, const std::vector<int>& ranks,
                      const std::function<void()>& get_on) {
    Waiter waiter(watched_, false, true, timeout_s_);
    const auto late_ones = [&] {
        return std::ranges::count_if(ranks, [&](int rank) { return heard_.at(rank) < number; });
    };
    auto awaited = late_ones();
    for (take(); !all_told(number, ranks); take()) {
        refuse_difference();
        if (const auto still = late_ones(); std::exchange(awaited, still) != still) waiter.reset();
        get_on();
        waiter.pause([&] {
            const auto late = std::find_if(ranks.begin(), ranks.end(),
                                           [&](int rank) { return heard_.at(rank) < number; });
            return "checking calls, waiting for rank " + std::to_string(*late) + " to make call " +
                   std::to_string(number) + " of this exchange (it has made " +
                   std::to_string(heard_.at(*late)) + ")";
        });
    }
}

void CallCheck::look() {
    take();
    refuse_difference();
}

// Calls before it can be ended.
void CallCheck::refuse_difference() const {
    if (difference_.print > 0 && difference_.print <= told_)
        throw Error(difference_.call.data(), ErrorKind::communication);
}

// Matched probes: another thread may take records at the same time.
void CallCheck::take() {
    for (const int rank : neighbors_) {
        auto& early = early_[rank];
        for (;;) {
            int there = 0;
            MPI_Message message = MPI_MESSAGE_NULL;
            check_mpi(MPI_Improbe(rank, tag_, comm_.handle(), &there, &message, MPI_STATUS_IGNORE),
                      "MPI_Improbe");
            if (there == 0) break;
            Record record;
            check_mpi(MPI_Mrecv(&record, sizeof(Record), MPI_BYTE, &message, MPI_STATUS_IGNORE),
                      "MPI_Mrecv");
            if (record.number == 0) {
                pass_on(record);
                continue;
            }
            early.push_back(record);
            heard_[rank] = record.number;
        }
        while (!early.empty() && early.front().number <= told_) {
            const Record theirs = early.front();
            early.pop_front();  // what differs is told once
            compare(rank, theirs);
        }
    }
    forget_old();
}

void CallCheck::compare(int rank, const Record& theirs) {
    const Record& ours = mine_.at(static_cast<std::size_t>(theirs.number - mine_.front().number));
    if (theirs.print == ours.print) return;
    const std::string text = "rank " + std::to_string(rank) + " has made call " +
                             std::to_string(theirs.number) + " of this exchange for " +
                             theirs.call.data() + ", and rank " + std::to_string(comm_.rank()) +
                             " for " + ours.call.data() +
                             ": make the same calls in the same order on every rank, of the same "
                             "fields, depth and reduction";
    pass_on(record_of(0, theirs.number, text));
    throw Error(text, ErrorKind::communication);
}

// Once.
void CallCheck::pass_on(const Record& difference) {
    if (difference_.print > 0) return;
    difference_ = difference;
    send(difference_);
}

bool CallCheck::all_told(std::uint64_t number, const std::vector<int>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](int rank) { return heard_.at(rank) >= number; });
}

// A neighbor that had told them is compared with the last of them.
void CallCheck::forget_old() {
    std::uint64_t everywhere = told_;
    for (const auto& [rank, number] : heard_) everywhere = std::min(everywhere, number);
    while (!mine_.empty() && mine_.front().number <= everywhere) mine_.pop_front();
}

}  // namespace parhelion
