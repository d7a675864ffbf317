#include "exchange/trials.hpp"

#include <algorithm>
#include <utility>

#include "core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr double timeout_s = 60;

// As long as work: on the rank's core, without its arrays.
void spin(double seconds) {
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < seconds;) {
    }
}

}  // namespace

Trials::Trials(const Plan& plan, const BoundArrays& arrays, const std::vector<Candidate>& contestants, const Use& use, StagedPlans& staged)
    : plan_(plan), arrays_(arrays), contestants_(contestants), use_(use), staged_(staged), work_is_unknown_(use.overlap && use.work_s == 0),
      made_(contestants.size()) {}

// What the system refuses, to all ranks, leaves the others in the race.
std::string Trials::make(int contestant) {
    const auto i = static_cast<std::size_t>(contestant);
    try {
        const Choice choice = parse_choice(contestants_[i].name);
        made_[i] = std::make_unique<Stages>(plan_, arrays_, choice, staged_.plan(choice.staging));
    } catch (const Error& error) {
        if (!error.is_refusal()) throw;
        return error.what();
    }
    return {};
}

std::vector<double> Trials::take(const std::vector<Turn>& turns) {
    std::vector<double> mine;
    const double start = MPI_Wtime();
    double worked = 0;
    for (const Turn& turn : turns) {
        Stages& stages = *made_[static_cast<std::size_t>(turn.contestant)];
        seconds_of(stages, turn.warming);
        for (int sample = 0; sample < turn.samples; ++sample) mine.push_back(seconds_of(stages, turn.each) / turn.each);
        worked += (turn.warming + turn.samples * turn.each) * use_.work_s;
    }
    mine.insert(mine.end(), {own_turns_s_, MPI_Wtime() - start_});
    std::vector<double> all = std::move(mine);  // none is negative: their bits are in their order
    reduce(plan_.communicator(), Combine::largest, {reinterpret_cast<std::uint64_t*>(all.data()), all.size()});
    own_turns_s_ = std::max(MPI_Wtime() - start - worked, 0.0);  // the agreement included: told with the next
    elapsed_ = all.back();
    all.pop_back();
    spent_ += all.back();
    all.pop_back();
    std::vector<double> seconds;
    for (auto next = all.cbegin(); const Turn& turn : turns) {
        seconds.push_back(median({next, next + turn.samples}));
        next += turn.samples;
    }
    measure_work(seconds.front());
    return seconds;
}

// By the better of the first two exchanges. A disturbed one must not make all trials long.
void Trials::measure_work(double exchange_s) {
    constexpr double longest = 200e-6;
    if (std::exchange(work_is_unknown_, false)) use_.work_s = std::min(exchange_s, longest);
}

double Trials::seconds_of(Stages& stages, int exchanges) {
    if (use_.overlap || use_.work_s > 0) {
        double seconds = 0;
        for (int i = 0; i < exchanges; ++i) seconds += seconds_of_one(stages);
        return seconds;
    }
    const double start = MPI_Wtime();
    for (int i = 0; i < exchanges; ++i) {
        stages.begin(Direction::forward);
        stages.end(timeout_s);
    }
    return MPI_Wtime() - start;
}

double Trials::seconds_of_one(Stages& stages) {
    if (!use_.overlap) spin(use_.work_s);
    const double start = MPI_Wtime();
    stages.begin(Direction::forward);
    double inside = 0, end = start;
    if (use_.overlap) {
        stages.leave();
        inside = MPI_Wtime() - start;
        spin(use_.work_s);
        end = MPI_Wtime();
    }
    stages.end(timeout_s);
    return inside + MPI_Wtime() - end;
}

std::unique_ptr<Stages> Trials::take_out(int contestant) { return std::move(made_[static_cast<std::size_t>(contestant)]); }

}  // namespace parhelion
