// The stopping rule keeps the interval's coverage: simulated runs with independent and
// autocorrelated samples.
#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/cases.hpp"

using parhelion::bench::half_width_of_median;

namespace {

constexpr int runs = 300;
constexpr std::size_t most = 1000, look_every = 5;
constexpr double share = 0.05;

double median_of(std::vector<double> samples) {
  std::nth_element(samples.begin(),
      samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

// Samples around a median of 1 until the stopping rule holds for a relative half-width of `share`.
std::vector<double> samples_until_precise(
    double spread, double resemblance, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> samples;
  double log = normal(random);
  while (samples.size() < most) {
    samples.push_back(std::exp(log));
    log = resemblance * log + std::sqrt(1 - resemblance * resemblance) * normal(random);
    if (samples.size() % look_every == 0 && half_width_of_median(samples) <= share) break;
  }
  return samples;
}

}  // namespace

CASE("a median that is called precise is, in at least 95 % of runs") {
  std::mt19937_64 random(20260101);
  for (double resemblance : {0.0, 0.5})
    for (double spread : {0.05, 0.1, 0.2}) {
      int right = 0;
      for (int run = 0; run < runs; ++run)
        right +=
            std::fabs(median_of(samples_until_precise(spread, resemblance, random)) - 1) <= share;
      EXPECT_GE(right, 0.95 * runs) << "spread " << spread << ", resemblance " << resemblance
                                    << ": " << right << " of " << runs;
    }
}

CASE("a machine without noise is precise as soon as there are enough samples") {
  EXPECT_EQ(half_width_of_median(std::vector<double>(19, 1.0)), HUGE_VAL);
  EXPECT_EQ(half_width_of_median(std::vector<double>(20, 1.0)), 0);
  EXPECT_LT(half_width_of_median({1.0, 1.001, 1.002, 1.001, 1.0, 1.001, 1.0, 1.001, 1.0, 1.001,
                1.002, 1.001, 1.0, 1.002, 1.0, 1.001, 1.0, 1.001, 1.0, 1.001}),
      0.01);
}

CASE(
    "the interval is that of 99 %, grows with samples that resemble each other, and is infinite "
    "where samples are too few") {
  EXPECT_EQ(half_width_of_median(std::vector<double>(19, 1.0)), INFINITY);
  EXPECT_EQ(half_width_of_median(std::vector<double>(20, 1.0)), 0);
  std::vector<double> mixed, ascending;  // alternating large and small samples
  for (int i = 0; i < 50; ++i) mixed.insert(mixed.end(), {199.0 - i, 149.0 - i});
  for (int i = 0; i < 100; ++i) ascending.push_back(100.0 + i);
  EXPECT_NEAR(half_width_of_median(mixed), 14.0 / 150, 1e-12);
  EXPECT_EQ(half_width_of_median(ascending), INFINITY);
}
