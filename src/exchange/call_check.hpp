// Whether neighbors make the same calls: the checked mode of an exchange.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

class NodeContext;

/// Of an exchange and all its subsets together. Each call is told to all neighbors in a few hundred
/// bytes when it begins, which waits for nobody; what a neighbor tells is held against this rank's
/// own call of the same number. There is none where nothing is checked.
///
/// Further checks of a call belong here: what has to be equal on both sides goes into the text that
/// is told.
class CallCheck {
public:
    /// Collective. `neighbors`: other ranks, each once. `timeout_s`: as in ExchangeOptions.
    CallCheck(const Communicator& comm, std::vector<int> neighbors, double timeout_s);
    ~CallCheck();
    CallCheck(const CallCheck&) = delete;
    CallCheck& operator=(const CallCheck&) = delete;

    /// The next call begins. Returns its number. Waits for nobody, and compares nothing: whoever
    /// makes the same calls can end them.
    std::uint64_t tell(const std::string& call);
    /// Waits until these neighbors have told their call of that number, and calls `get_on`
    /// meanwhile. Throws Error where it is another one, after the time limit, when a neighbor is
    /// lost, and as `look` does.
    void await(std::uint64_t number, const std::vector<int>& ranks,
               const std::function<void()>& get_on);
    /// For whoever waits: throws Error where other ranks have found calls that differ. They tell
    /// their neighbors, which tell theirs.
    void look();
    const std::vector<int>& neighbors() const { return neighbors_; }

private:
    struct Record {
        std::uint64_t number = 0,
                      print =
                          0;  // number 0: calls of that other number differ, and the text says how
        std::array<char, 400> call{};  // as much as there is room for
    };
    struct Sent {
        Record record;
        std::vector<MPI_Request> requests;
    };
    using AllSent = std::deque<Sent>;

    static Record record_of(std::uint64_t number, std::uint64_t print, const std::string& text);
    static bool is_over(Sent& sent);
    void take();
    /// Whether no record can come any more. Local.
    bool has_taken_all() noexcept;
    void send(const Record& record);
    void compare(int rank, const Record& theirs);
    void pass_on(const Record& difference);
    void refuse_difference() const;
    bool all_told(std::uint64_t number, const std::vector<int>& ranks) const;
    void forget_old();

    Communicator comm_;
    std::vector<int> neighbors_;
    double timeout_s_;
    Tag tag_;
    NodeContext* watched_;
    std::uint64_t told_ = 0;
    std::shared_ptr<AllSent> sent_;
    std::deque<Record> mine_;                  // those that some neighbor has not told yet
    std::map<int, std::deque<Record>> early_;  // by rank: of calls that this rank has not made yet
    std::map<int, std::uint64_t> heard_;       // by rank: the last one
    Record difference_;                        // that some rank has found
};

}  // namespace parhelion
