#pragma once

#include <string>

namespace parhelion::bench {

/// Interleaved A/B: two programs measure alternately on the same cores (Bulej et al., "Duet
/// Benchmarking", ICPE 2020, run both at once). A rank passes its core to the same rank of the
/// other program and sleeps until it returns, over named pipes FOLDER/first.RANK and
/// FOLDER/second.RANK. The launcher creates the pipes and holds them open until one program ends.
class Turns {
 public:
  /// `told`: "FOLDER/first", "FOLDER/second" (which begins later), or empty without another
  /// program. Waits for the other program and for its turn. Throws std::system_error.
  Turns(const std::string& told, int rank);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Yields between two measurements; returns when the other program does the same or ends.
  void hand_over();

 private:
  void give();
  void wait();

  int mine_ = -1, theirs_ = -1;  ///< pipes; -1: no other program
};

}  // namespace parhelion::bench
