#include "probe.hpp"

#include <new>

#include "clock.hpp"

namespace parhelion::bench {

namespace {

constexpr std::uint32_t warm_up = 8, rounds = 64;
constexpr double patience_s = 0.005;

bool wait_until(const Flag& flag, std::uint32_t sequence, double deadline) {
    for (int spins = 1; !flag.reached(sequence); ++spins) {
        pause_briefly();
        if (spins % 256 == 0 && now() > deadline) return false;
    }
    return true;
}

}  // namespace

FlagProbe::FlagProbe(const Communicator& comm, const Binding& binding) {
    const bool takes_part = comm.size() > 1 && comm.rank() < 2 && binding.on_own_cores(0, 1);
    MPI_Comm_split(comm.handle(), takes_part ? 0 : MPI_UNDEFINED, comm.rank(), &pair_);
    if (!takes_part) return;
    rank_ = comm.rank();
    window_ = std::make_unique<SharedWindow>(pair_, sizeof(Flag));
    for (int r : {0, 1}) flags_[r] = reinterpret_cast<Flag*>(window_->of(r));
    new (flags_[rank_]) Flag{};
    MPI_Barrier(pair_);
}

FlagProbe::~FlagProbe() {
    window_.reset();
    if (pair_ != MPI_COMM_NULL) MPI_Comm_free(&pair_);
}

std::optional<double> FlagProbe::measure() {
    if (!window_) return std::nullopt;
    const std::uint32_t first = 1 + (warm_up + rounds) * probes_++;
    const double deadline = now() + patience_s;
    if (rank_ == 0) return ping(first, deadline);
    answer(first, deadline);
    return std::nullopt;
}

// Sequence numbers are never used twice: a rank that gave up cannot take a late answer for a new
// one.
std::optional<double> FlagProbe::ping(std::uint32_t first, double deadline) {
    double start = 0;
    for (std::uint32_t i = 0; i < warm_up + rounds; ++i) {
        if (i == warm_up) start = now();
        flags_[0]->post(first + i);
        if (!wait_until(*flags_[1], first + i, deadline)) {
            flags_[0]->post(first + warm_up + rounds - 1);
            return std::nullopt;
        }
    }
    return (now() - start) / (2 * rounds) * 1e9;
}

void FlagProbe::answer(std::uint32_t first, double deadline) {
    for (std::uint32_t i = 0; i < warm_up + rounds; ++i) {
        if (!wait_until(*flags_[0], first + i, deadline)) return;
        flags_[1]->post(first + i);
    }
}

}  // namespace parhelion::bench
