#pragma once

#include <cstdint>
#include <vector>

#include "parhelion/core/communicator.hpp"

namespace parhelion::bench {

/// How far apart the ranks were, and for whom the others waited: one of each per sample, on rank 0
/// alone.
struct Skew {
    std::vector<double> seconds;  // per exchange
    std::vector<int> last_rank;
};

/// When this rank began a batch of exchanges, came through it, and was done: the clock is read at
/// the begin, and behind each of some parts of equal length, since a rank that is late in every
/// exchange is late again before it comes to the next one.
class Arrivals {
public:
    /// Exchanges of a batch that end part `part`, of `parts` that it has.
    static std::int64_t end_of(int part, std::int64_t exchanges);
    static int parts(std::int64_t exchanges);

    void note(double seconds) { times_.push_back(seconds); }

    /// Collective. What was noted in samples of `exchanges` exchanges each.
    ///
    /// The clock is that of a host. Ranks of one host are compared by it; ranks of different hosts
    /// by the time since the first rank of their host began: the barrier before a batch lets hosts
    /// go about together, so that how far apart *they* were at the begin stays unknown, and is the
    /// error of what is told.
    Skew skew(std::int64_t exchanges, const Communicator& comm) const;

private:
    std::vector<double> times_;  // sample by sample
};

/// How far the interval of the median reaches from it, as a share of it; infinite where samples are
/// too few for one (below 20).
///
/// For deciding when to stop: an interval that is looked at again and again is narrow by luck
/// sooner or later. So it is one of 99 %, by order statistics and the normal approximation of the
/// binomial distribution, and widened by how much each sample resembles the one before it. The one
/// of 95 % then holds the median as often as it says.
double half_width_of_median(const std::vector<double>& samples);

}  // namespace parhelion::bench
