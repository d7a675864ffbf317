#include "entrant.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "clock.hpp"
#include "errors.hpp"
#include "parhelion/core/collective.hpp"
#include "precision.hpp"

namespace parhelion::bench {

namespace {

// Of at least this many seconds one exchange fills the caches it uses by itself; shorter ones are
// preceded by others.
constexpr double long_exchange_s = 0.01;
// A sample is planned this much longer than asked for: the machine may be slow while the length is
// chosen.
constexpr double margin = 1.25;
// Caches are full of what the contender before used, and take several rounds to settle: arrays of
// 20 MB were up to half slower after two exchanges than after ten, if few contenders used the same
// arrays. A steady state is what is measured.
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

Entrant::Entrant(const Entry& entry, Ground ground, const Work& work)
    : ground_(ground), work_s_(work.of_rank(ground.comm.rank(), ground.comm.size())) {
    outcome_.contender = entry.name;
    outcome_.role = entry.role;
    std::unique_ptr<Contender> made;
    std::string cannot, failed;
    try {
        made = entry.make(setup_);
    } catch (const CannotRun& e) {
        cannot = e.what();
    } catch (const std::exception& e) {
        failed = e.what();
    }
    if (made && work.any() && !made->has_halves()) cannot = "it cannot be begun and ended apart";
    if (!cannot.empty())
        outcome_.skipped = cannot;  // on every rank, so there is nothing to agree on
    outcome_.error = agreed(ground_.comm, failed);
    if (!outcome_.skipped && !outcome_.error) contender_ = std::move(made);
}

// A contender that throws on one rank throws on all (or the others time out and throw too), so the
// ranks can agree.
template <class Work>
void Entrant::attempt(Work&& work) {
    std::string failed;
    try {
        work();
    } catch (const std::exception& e) {
        failed = e.what();
    }
    outcome_.error = agreed(ground_.comm, failed);
    if (!outcome_.error) return;
    outcome_.verified = false;
    outcome_.traffic = contender_->traffic();
    contender_.reset();
}

// New values each time, so that what an earlier exchange left cannot pass for right. The ranks are
// not held together unless the contender asks for it: one that reads a neighbor's cells too early
// or too late is to be caught.
void Entrant::checked_round(std::int64_t exchanges) {
    contender_->values().refresh(++round_);
    const bool held = contender_->needs_barrier_between_steps() || round_ == 1;
    if (held) ground_.start_line.wait();
    const double start = now();
    const double worked = exchange(exchanges);
    if (round_ == 1) outcome_.first_s = now() - start - worked;
    wrong_ += contender_->values().count_wrong(round_);
    if (held) ground_.start_line.wait();
}

void Entrant::judge() {
    std::int64_t wrong = wrong_;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, comm());
    outcome_.verified = wrong == 0;
    if (wrong == 0) return;
    outcome_.error = std::to_string(wrong) + " elements were wrong after an exchange";
    outcome_.traffic = contender_->traffic();
    contender_.reset();
}

void Entrant::verify_first_exchanges() {
    constexpr int rounds = 4;  // double buffers are used twice each
    attempt([&] {
        for (int i = 0; i < rounds; ++i) checked_round(1);
    });
    if (in_race()) judge();
}

void Entrant::choose_iterations(double least_s) {
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

void Entrant::take_sample() {
    ground_.start_line.wait();
    outcome_.probe_ns.push_back(ground_.probe.measure());
    attempt([&] {
        if (exchange_s_ < long_exchange_s) contender_->exchange_many(exchanges_before_sample);
        samples_.push_back(watched_batch() / static_cast<double>(outcome_.iterations));
        if (const auto seconds = contender_->step_held([&] { ground_.start_line.wait(); }))
            in_exchange_.push_back(*seconds);
    });
}

bool Entrant::is_precise(double share) {
    constexpr std::size_t look_every = 5;
    if (!precise_ && samples_.size() % look_every == 0) {
        std::vector<double> slowest(samples_.size());
        MPI_Allreduce(samples_.data(), slowest.data(), static_cast<int>(samples_.size()),
                      MPI_DOUBLE, MPI_MAX, comm());
        precise_ = half_width_of_median(slowest) <= share;
    }
    return precise_;
}

void Entrant::verify_a_whole_sample() {
    attempt([&] { checked_round(outcome_.iterations); });
    if (in_race()) judge();
}

Outcome Entrant::finish() {
    if (in_race()) {
        outcome_.traffic = contender_->traffic();
        if (ground_.levels) outcome_.traffic_by_level = ground_.levels->count(outcome_.traffic);
        outcome_.explain = contender_->explain();
        outcome_.exchange_lines = contender_->exchange_lines();
    }
    outcome_.pattern_s = slowest(setup_.pattern);
    outcome_.plan_s = slowest(setup_.plan);
    outcome_.first_s = slowest(outcome_.first_s);
    std::int64_t traffic[2] = {outcome_.traffic.bytes, outcome_.traffic.messages};
    MPI_Allreduce(MPI_IN_PLACE, traffic, 2, MPI_INT64_T, MPI_MAX, comm());
    outcome_.traffic = {traffic[0], traffic[1]};
    outcome_.exchange_s = mean_over_ranks(std::move(in_exchange_));
    outcome_.samples_by_rank = samples_by_rank(samples_, ground_.comm);
    if (!outcome_.error && !samples_.empty())
        outcome_.skew = arrivals_.skew(outcome_.iterations, ground_.comm);
    contender_.reset();
    return outcome_;
}

// Tells the seconds of work in them, which do not count.
double Entrant::exchange(std::int64_t times) {
    double worked = 0;
    if (work_s_ == 0) contender_->exchange_many(times);
    else
        for (std::int64_t i = 0; i < times; ++i) worked += exchange_around_work();
    return worked;
}

double Entrant::exchange_around_work() {
    contender_->begin();
    const double begun = now();
    spin(work_s_);
    const double worked = now() - begun;
    contender_->end();
    return worked;
}

double Entrant::batch(std::int64_t exchanges) {
    ground_.start_line.wait();
    const double start = now();
    const double worked = exchange(exchanges);
    return now() - start - worked;
}

// A batch of `iterations` exchanges in parts, between which nothing happens but a look at the
// clock.
double Entrant::watched_batch() {
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

std::vector<double> Entrant::mean_over_ranks(std::vector<double> mine) const {
    MPI_Allreduce(MPI_IN_PLACE, mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM,
                  comm());
    for (double& value : mine) value /= ground_.comm.size();
    return mine;
}

double Entrant::slowest(double mine) const {
    double seconds = mine;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm());
    return seconds;
}

}  // namespace parhelion::bench
