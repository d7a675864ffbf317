#include "samples.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>

namespace parhelion::bench {

namespace {

constexpr int most_parts = 16;  // clock reads take < 0.2 % of a 0.5 ms batch

struct At {
  double seconds;
  int rank;  // MPI_DOUBLE_INT
};

// Times since the first rank of the node began the sample.
std::vector<double> since_begin(std::vector<double> times, std::size_t each, MPI_Comm node) {
  std::vector<double> begins;
  for (std::size_t first = 0; first < times.size(); first += each) begins.push_back(times[first]);
  MPI_Allreduce(
      MPI_IN_PLACE, begins.data(), static_cast<int>(begins.size()), MPI_DOUBLE, MPI_MIN, node);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] -= begins[i / each];
  return times;
}

std::vector<At> last_ones(const std::vector<double>& times, const Communicator& comm) {
  std::vector<At> mine, last(times.size());
  for (double seconds : times) mine.push_back({seconds, comm.rank()});
  MPI_Reduce(mine.data(), last.data(), static_cast<int>(mine.size()), MPI_DOUBLE_INT, MPI_MAXLOC, 0,
      comm.handle());
  return last;
}

std::vector<double> first_ones(const std::vector<double>& times, MPI_Comm comm) {
  std::vector<double> first(times.size());
  MPI_Reduce(
      times.data(), first.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MIN, 0, comm);
  return first;
}

// The rank with the greatest sum of waits.
int awaited(const std::map<int, double>& waits) {
  return std::max_element(waits.begin(), waits.end(), [](auto& a, auto& b) {
    return a.second < b.second;
  })->first;
}

}  // namespace

int Arrivals::parts(std::int64_t exchanges) {
  return static_cast<int>(std::min<std::int64_t>(exchanges, most_parts));
}

std::int64_t Arrivals::end_of(int part, std::int64_t exchanges) {
  return exchanges * (part + 1) / parts(exchanges);
}

// All ranks are inside an exchange from the last arrival to the first exit; the rest of a batch is
// skew, at its begin and after each exchange. Assumes that unobserved exchanges have the same skew
// as observed ones.
Skew Arrivals::skew(std::int64_t exchanges, const Communicator& comm) const {
  const auto each = static_cast<std::size_t>(parts(exchanges)) + 1;
  const std::vector<double> times = since_begin(times_, each, comm.node().handle());
  const std::vector<At> last = last_ones(times, comm);
  const std::vector<double> first = first_ones(times, comm.handle());
  Skew skew;
  if (comm.rank() != 0) return skew;
  for (std::size_t sample = 0; sample < times.size(); sample += each) {
    std::map<int, double> waits;
    double sum = 0;
    for (std::size_t i = sample; i < sample + each; ++i) {
      const double standing_for =
          i == sample ? 1 : static_cast<double>(exchanges) / static_cast<double>(each - 1);
      const double wait = standing_for * (last[i].seconds - first[i]);
      sum += wait;
      waits[last[i].rank] += wait;
    }
    const double whole =
        last[sample + each - 1].seconds - first[sample];  // bounds the extrapolation
    skew.seconds.push_back(std::min(sum, whole) / static_cast<double>(exchanges));
    skew.last_rank.push_back(awaited(waits));
  }
  return skew;
}

namespace {

constexpr std::size_t least_samples = 20;  // fewer do not determine autocorrelation
constexpr double z_99 = 2.576;
constexpr double most_resemblance = 0.95;

// Ranks in ascending order minus their mean, robust against outliers; ties share a rank.
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

// Factor by which autocorrelation, as in an AR(1) process, increases the error of a median.
double inflation(const std::vector<double>& samples) {
  const std::vector<double> ranks = centered_ranks(samples);
  const double squares = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
  if (squares == 0) return 1;  // all equal
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
