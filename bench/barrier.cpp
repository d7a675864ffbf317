#include "barrier.hpp"

#include <algorithm>
#include <new>

#include "launch.hpp"
#include "variant.hpp"

namespace parhelion::bench {

StartLine::StartLine(const Communicator& comm)
    : comm_(comm.handle()), node_(comm.node()), crowded_(more_ranks_than_cpus(node_)),
      window_(node_.handle(), 2 * sizeof(Flag)) {
  MPI_Comm_split(comm.handle(), node_.rank() == 0 ? 0 : MPI_UNDEFINED, comm.rank(), &leaders_);
  arrived_ = reinterpret_cast<Flag*>(window_.of(0));
  released_ = arrived_ + 1;
  if (node_.rank() == 0) new (arrived_) Flag{}, new (released_) Flag{};
  MPI_Barrier(comm.handle());
}

StartLine::~StartLine() {
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

void StartLine::wait() {
  ++starts_;
  if (node_.rank() != 0) {
    arrived_->count_one_more(crowded_);
    return released_->wait_for(starts_, crowded_);
  }
  arrived_->wait_for(starts_ * static_cast<std::uint32_t>(node_.size() - 1), crowded_);
  MPI_Barrier(leaders_);
  released_->post(starts_, crowded_);
}

double StartLine::hosts_apart() {
  constexpr int tries = 5;
  wait();
  int hosts = 1;
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_size(leaders_, &hosts);
  double least = 1e300;
  for (int i = 0; i < tries && hosts > 1; ++i) {
    const double start = now();
    MPI_Barrier(leaders_);
    least = std::min(least, now() - start);
  }
  wait();
  double apart = hosts > 1 ? least : 0;
  MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_DOUBLE, MPI_MAX, comm_);
  return apart;
}

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

// Each probe uses new sequence numbers, so that a late answer to a timed-out probe does not count.
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
