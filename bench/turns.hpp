#pragma once

#include <string>

namespace parhelion::bench {

/// Two programs on the same cores that measure in turns (Bulej et al., "Duet Benchmarking", ICPE
/// 2020, run both at once). A rank hands its core to the same rank of the other program and sleeps
/// until it gets it back, over two named pipes FOLDER/first.RANK and FOLDER/second.RANK, which
/// whoever starts both has made and holds open until one of them has ended.
class Turns {
public:
    /// `told` is "FOLDER/first" or "FOLDER/second", which begins later; empty: there is no other
    /// program. Waits for the other one, and for the turn. Throws std::system_error.
    Turns(const std::string& told, int rank);
    ~Turns();
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    /// Between two measurements. Returns when it is this program's turn again, or the other one has
    /// ended.
    void hand_over();

private:
    void give();
    void wait();

    int mine_ = -1, theirs_ = -1;  ///< pipes; −1: there is no other program any more
};

}  // namespace parhelion::bench
