// How a rank waits for its neighbors.
#pragma once

#include <chrono>

namespace parhelion {

/// Polls at first; then gives the core away between polls, so that more ranks than cores make progress.
/// Yielding costs a system call only after a neighbor is late by `eager_polls` polls.
class Waiter {
public:
    explicit Waiter(double timeout_s) : timeout_s_(timeout_s) {}

    /// Call when a poll found nothing. Returns false when the time limit has passed.
    bool pause();
    /// Call when something happened.
    void reset() { polls_ = 0; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr int eager_polls = 200;
    static constexpr int polls_between_clocks = 1024;
    double timeout_s_;
    int polls_ = 0;
    bool timing_ = false;
    Clock::time_point since_{};
};

}  // namespace parhelion
