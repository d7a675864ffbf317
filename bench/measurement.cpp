#include "measurement.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <utility>

#include "parhelion/core/collective.hpp"
#include "samples.hpp"
#include "variant.hpp"

namespace parhelion::bench {

namespace {

// An exchange of at least this many seconds needs no warm-up before a sample.
constexpr double long_exchange_s = 0.01;
// Plans samples this much longer than requested: the machine may be slow while choosing a length.
constexpr double margin = 1.25;
// Warm-up to a steady state: the previous variant filled the caches. With 20 MB arrays exchanges
// were up to 50 % slower after two than after ten, if few variants used the same arrays.
constexpr int exchanges_before_sample = 10;

std::optional<std::string> agreed(const Communicator& comm, const std::string& complaint) {
  try {
    agree(comm, {!complaint.empty(), complaint});
  } catch (const Error& e) {
    return e.what();
  }
  return std::nullopt;
}

}  // namespace

Measurement::Measurement(const Entry& entry, Ground ground, const Work& work)
    : ground_(ground), work_s_(work.of_rank(ground.comm.rank(), ground.comm.size())) {
  outcome_.variant = entry.name;
  outcome_.role = entry.role;
  std::unique_ptr<Variant> made;
  std::string cannot, failed;
  try {
    made = entry.make(setup_);
  } catch (const CannotRun& e) {
    cannot = e.what();
  } catch (const std::exception& e) {
    failed = e.what();
  }
  if (made && work.any() && !made->has_halves()) cannot = "it cannot be begun and ended apart";
  if (!cannot.empty()) outcome_.skipped = cannot;  // on every rank: no need to agree
  outcome_.error = agreed(ground_.comm, failed);
  if (!outcome_.skipped && !outcome_.error) variant_ = std::move(made);
}

// If a variant throws on one rank, the others throw or time out, so the ranks can agree.
template <class Work>
void Measurement::attempt(Work&& work) {
  std::string failed;
  try {
    work();
  } catch (const std::exception& e) {
    failed = e.what();
  }
  outcome_.error = agreed(ground_.comm, failed);
  if (!outcome_.error) return;
  outcome_.verified = false;
  outcome_.traffic = variant_->traffic();
  variant_.reset();
}

// New values in each round, so that stale ones count as wrong. No barriers unless
// the variant needs them: the check must detect reads of a neighbor's cells too early or too late.
void Measurement::checked_round(std::int64_t exchanges) {
  variant_->values().refresh(++round_);
  const bool held = variant_->needs_barrier_between_steps() || round_ == 1;
  if (held) ground_.start_line.wait();
  const double start = now();
  const double worked = exchange(exchanges);
  if (round_ == 1) outcome_.first_s = now() - start - worked;
  wrong_ += variant_->values().count_wrong(round_);
  if (held) ground_.start_line.wait();
}

void Measurement::judge() {
  std::int64_t wrong = wrong_;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, comm());
  outcome_.verified = wrong == 0;
  if (wrong == 0) return;
  outcome_.error = std::to_string(wrong) + " elements were wrong after an exchange";
  outcome_.traffic = variant_->traffic();
  variant_.reset();
}

void Measurement::verify_first_exchanges() {
  constexpr int rounds = 4;  // twice through double buffers
  attempt([&] {
    for (int i = 0; i < rounds; ++i) checked_round(1);
  });
  if (is_in()) judge();
}

void Measurement::choose_iterations(double least_s) {
  constexpr std::int64_t most = 10'000'000;
  attempt([&] {
    std::int64_t exchanges = 1;
    for (batch(1);;) {
      const double working = work_s_ * static_cast<double>(exchanges);
      const double seconds = std::max(slowest(batch(exchanges) + working), 1e-9);
      outcome_.iterations = exchanges;
      exchange_s_ = seconds / static_cast<double>(exchanges);
      if (seconds >= least_s || exchanges >= most) return;
      const double wanted = std::ceil(margin * least_s / exchange_s_);
      exchanges = std::clamp(static_cast<std::int64_t>(wanted), exchanges + 1, most);
    }
  });
}

// In step: where no rank waits (floor), a later one would evict an earlier one's cells.
void Measurement::warm_up() {
  for (int i = 0; i < exchanges_before_sample; ++i) {
    variant_->exchange();
    ground_.start_line.wait();
  }
}

void Measurement::take_sample(bool phases) {
  ground_.start_line.wait();
  outcome_.probe_ns.push_back(ground_.probe.measure());
  const std::size_t whole = samples_.size(), held = in_exchange_.size(),
                    phased = phases_.front().size();
  attempt([&] {
    if (exchange_s_ < long_exchange_s) warm_up();
    const double used = ground_.energy ? ground_.energy->used() : 0;
    samples_.push_back(watched_batch() / static_cast<double>(outcome_.iterations));
    if (ground_.energy) joules_ += ground_.energy->used() - used;
    if (const auto seconds = variant_->step_held([&] { ground_.start_line.wait(); }))
      in_exchange_.push_back(*seconds);
    if (phases && variant_->has_halves()) time_phases();
  });
  if (is_in()) return;  // else some ranks may have a part of this sample
  samples_.resize(whole);
  in_exchange_.resize(held);
  for (auto& phase : phases_) phase.resize(phased);
  outcome_.probe_ns.pop_back();
}

void Measurement::time_phases() {
  Phases seconds{};
  ground_.start_line.wait();
  for (std::int64_t i = 0; i < outcome_.iterations; ++i) variant_->exchange_in_phases(seconds);
  for (std::size_t phase = 0; phase < seconds.size(); ++phase)
    phases_[phase].push_back(seconds[phase] / static_cast<double>(outcome_.iterations));
}

bool Measurement::is_precise(double share) {
  constexpr std::size_t look_every = 5;
  if (!precise_ && samples_.size() % look_every == 0) {
    std::vector<double> slowest(samples_.size());
    MPI_Allreduce(samples_.data(), slowest.data(), static_cast<int>(samples_.size()), MPI_DOUBLE,
        MPI_MAX, comm());
    precise_ = half_width_of_median(slowest) <= share;
  }
  return precise_;
}

void Measurement::verify_a_whole_sample() {
  attempt([&] { checked_round(outcome_.iterations); });
  if (is_in()) judge();
}

Outcome Measurement::finish() {
  if (is_in()) {
    outcome_.traffic = variant_->traffic();
    if (ground_.levels) outcome_.traffic_by_level = ground_.levels->count(outcome_.traffic);
    outcome_.explain = variant_->explain();
    outcome_.exchange_lines = variant_->exchange_lines();
  }
  outcome_.pattern_s = slowest(setup_.pattern);
  outcome_.plan_s = slowest(setup_.plan);
  outcome_.first_s = slowest(outcome_.first_s);
  std::int64_t traffic[3] = {
      outcome_.traffic.bytes, outcome_.traffic.messages, !outcome_.traffic.known};
  MPI_Allreduce(MPI_IN_PLACE, traffic, 3, MPI_INT64_T, MPI_MAX, comm());
  outcome_.traffic = {traffic[0], traffic[1], {}, traffic[2] == 0};
  outcome_.exchange_s = mean_over_ranks(std::move(in_exchange_));
  for (std::size_t phase = 0; phase < phases_.size(); ++phase)
    outcome_.phases_s[phase] = mean_over_ranks(std::move(phases_[phase]));
  if (ground_.energy && !samples_.empty() && work_s_ == 0) {  // not the energy of the work
    MPI_Allreduce(MPI_IN_PLACE, &joules_, 1, MPI_DOUBLE, MPI_SUM, comm());
    outcome_.energy_j =
        joules_ / (static_cast<double>(samples_.size()) * static_cast<double>(outcome_.iterations));
  }
  outcome_.samples_by_rank = samples_by_rank(samples_, ground_.comm);
  if (!outcome_.error && !samples_.empty())
    outcome_.skew = arrivals_.skew(outcome_.iterations, ground_.comm);
  variant_.reset();
  return outcome_;
}

double Measurement::exchange(std::int64_t times) {
  double worked = 0;
  if (work_s_ == 0) variant_->exchange_many(times);
  else
    for (std::int64_t i = 0; i < times; ++i) worked += exchange_around_work();
  return worked;
}

double Measurement::exchange_around_work() {
  variant_->begin();
  const double begun = now();
  spin(work_s_);
  const double worked = now() - begun;
  variant_->end();
  return worked;
}

double Measurement::batch(std::int64_t exchanges) {
  ground_.start_line.wait();
  const double start = now();
  const double worked = exchange(exchanges);
  return now() - start - worked;
}

// Runs `iterations` exchanges in parts and reads the clock after each.
double Measurement::watched_batch() {
  const std::int64_t exchanges = outcome_.iterations;
  ground_.start_line.wait();
  const double start = now();
  double end = start, worked = 0;
  arrivals_.note(start);
  std::int64_t done = 0;
  for (int part = 0; part < Arrivals::parts(exchanges); ++part) {
    const std::int64_t to = Arrivals::end_of(part, exchanges);
    worked += exchange(to - std::exchange(done, to));
    arrivals_.note(end = now());
  }
  return end - start - worked;
}

std::vector<double> Measurement::mean_over_ranks(std::vector<double> mine) const {
  MPI_Allreduce(
      MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, comm());
  for (double& value : mine) value /= ground_.comm.size();
  return mine;
}

double Measurement::slowest(double mine) const {
  double seconds = mine;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm());
  return seconds;
}

namespace {

// Takes a sample of every variant per repetition, in a new random order: the machine's drift and
// the previous variant's cache contents affect all alike. Then hands the cores to the other
// program.
void take_turns(std::deque<Measurement>& measurements, const Job& job, bool phases, Turns& other) {
  std::mt19937_64 random = job.order();
  std::vector<std::size_t> order(measurements.size());
  const int most =
      job.precision > 0 ? std::max(job.repetitions, job.most_repetitions) : job.repetitions;
  for (int repetition = 0; repetition < most; ++repetition) {
    const bool enough = repetition >= job.repetitions;
    bool taken = false;
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle_alike(order, random);
    for (std::size_t which : order) {
      Measurement& measurement = measurements[which];
      if (!measurement.is_in() || (enough && measurement.is_precise(job.precision))) continue;
      measurement.take_sample(phases);
      taken = true;
    }
    if (!taken) return;
    other.hand_over();
  }
}

}  // namespace

void run_case(const Case& which, const Job& job, Ground ground, const ReportOutcome& report) {
  constexpr double times_apart = 10;  // relative to the hosts' skew, an error of each sample
  const double least_s = std::max(job.min_sample_s, times_apart * ground.start_line.hosts_apart());
  std::deque<Measurement> measurements;
  for (const Entry& entry : which.entries) {
    Measurement& measurement = measurements.emplace_back(entry, ground, which.work);
    if (measurement.is_in()) measurement.verify_first_exchanges();
    if (measurement.is_in()) measurement.choose_iterations(least_s);
  }
  take_turns(measurements, job, which.phases, ground.turns);
  for (Measurement& measurement : measurements) {
    if (measurement.is_in()) measurement.verify_a_whole_sample();
    report(which, measurement.finish());
  }
}

}  // namespace parhelion::bench
