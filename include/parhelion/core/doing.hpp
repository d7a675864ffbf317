// What a rank is doing with the others while something is made.
#pragma once

#include <cstdint>
#include <string>

#include "parhelion/core/communicator.hpp"

namespace parhelion {

/// Announces a collective call for as long as it lives. Ranks that are in different calls when they
/// agree on something are told so at once
/// (`agree`, `require_equal`), and a wait in there that takes longer than the time limit ends with
/// who is where. Inside another one of the same thread it says nothing. Local, but for `meet`.
class Doing {
public:
    /// `call`: as the user knows it, equal on all ranks. `timeout_s`: of each wait, 5 at least; 0:
    /// PARHELION_TIMEOUT, else 30 where PARHELION_CHECK is 1, else never.
    Doing(const Communicator& comm, std::string call, double timeout_s = 0);
    ~Doing();
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;

    /// Collective: one agreement, for calls that do not begin with one. Nothing inside another
    /// call. Throws Error on every rank where some are in another call.
    void meet() const;

    /// The outermost one of this thread, or null.
    static const Doing* now() noexcept;
    const Communicator& communicator() const { return comm_; }
    const std::string& call() const { return call_; }
    /// How many calls this rank has made on the communicator, this one among them.
    std::uint64_t number() const { return number_; }
    double timeout_s() const { return timeout_s_; }

private:
    Communicator comm_;
    std::string call_;
    double timeout_s_;
    std::uint64_t number_ = 0;
    bool outermost_;
};

}  // namespace parhelion
