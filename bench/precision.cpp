#include "precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace parhelion::bench {

namespace {

constexpr std::size_t least_samples = 20;  // fewer do not tell how much they resemble each other
constexpr double z_99 = 2.576;
constexpr double most_resemblance = 0.95;

// Positions in ascending order, less their mean: a straggler is no more than the last of them.
// Equal samples share theirs.
std::vector<double> centered_ranks(const std::vector<double>& samples) {
    std::vector<double> ordered = samples;
    std::sort(ordered.begin(), ordered.end());
    std::vector<double> ranks;
    for (double sample : samples) {
        const auto [first, last] = std::equal_range(ordered.begin(), ordered.end(), sample);
        ranks.push_back(static_cast<double>((first - ordered.begin()) + (last - ordered.begin()) -
                                            std::ssize(ordered)) /
                        2);
    }
    return ranks;
}

// By how much the error of a median grows because each sample resembles the one before it, as in a
// process AR(1).
double inflation(const std::vector<double>& samples) {
    const std::vector<double> ranks = centered_ranks(samples);
    const double squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
    if (squares == 0) return 1;  // all are equal
    const double products = std::inner_product(ranks.begin() + 1, ranks.end(), ranks.begin(), 0.0);
    const double resemblance = std::clamp(products / squares, 0.0, most_resemblance);
    return std::sqrt((1 + resemblance) / (1 - resemblance));
}

}  // namespace

double half_width_of_median(const std::vector<double>& samples) {
    if (samples.size() < least_samples) return HUGE_VAL;
    const auto count = static_cast<double>(samples.size());
    const double below = std::floor((count - z_99 * inflation(samples) * std::sqrt(count)) / 2);
    if (below < 1) return HUGE_VAL;
    std::vector<double> ordered = samples;
    std::sort(ordered.begin(), ordered.end());
    const auto first = static_cast<std::size_t>(below) - 1;
    const double low = ordered[first], high = ordered[ordered.size() - 1 - first],
                 median = ordered[ordered.size() / 2];
    return std::max(high - median, median - low) / median;
}

}  // namespace parhelion::bench
