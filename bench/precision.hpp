#pragma once

#include <vector>

namespace parhelion::bench {

/// How far the interval of the median reaches from it, as a share of it; infinite where samples are
/// too few for one (below 20).
///
/// For deciding when to stop: an interval that is looked at again and again is narrow by luck
/// sooner or later. So it is one of 99 %, by order statistics and the normal approximation of the
/// binomial distribution, and widened by how much each sample resembles the one before it. The one
/// of 95 % then holds the median as often as it says.
double half_width_of_median(const std::vector<double>& samples);

}  // namespace parhelion::bench
