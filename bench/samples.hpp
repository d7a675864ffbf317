#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// Skew between ranks and the rank that the others waited for, per sample; on rank 0 only.
struct Skew {
  std::vector<double> seconds;  // per exchange
  std::vector<int> last_rank;
};

/// Clock readings of this rank at the begin of a batch of exchanges and after each of up to 16
/// equal parts, since a rank may be late before every exchange.
class Arrivals {
 public:
  /// Number of a batch's exchanges up to the end of `part`, and its number of parts.
  static std::int64_t end_of(int part, std::int64_t exchanges);
  static int parts(std::int64_t exchanges);

  void note(double seconds) { times_.push_back(seconds); }

  /// Collective. The skew in samples of `exchanges` exchanges each.
  ///
  /// Ranks of one host share a clock. Times on different hosts count from the host's first rank,
  /// since the barrier before a batch releases hosts about together; the hosts' skew there is
  /// unknown, an error of the result.
  Skew skew(std::int64_t exchanges, const Communicator& comm) const;

 private:
  std::vector<double> times_;  // sample by sample
};

/// Half-width of the median's confidence interval as a fraction of the median; infinite below 20
/// samples.
///
/// A stopping rule that tests repeatedly finds intervals that are narrow by chance. So this is the
/// 99 % interval, by order statistics and the normal approximation of the binomial distribution,
/// widened for autocorrelation. The 95 % interval then has its nominal coverage.
double half_width_of_median(const std::vector<double>& samples);

}  // namespace parhelion::bench
