#pragma once

#include <memory>
#include <optional>

#include "launch.hpp"
#include "memory.hpp"

namespace parhelion::bench {

/// A barrier that releases all ranks nearly at once and keeps no core busy afterwards. Ranks still
/// spinning in MPI_Barrier would take cores from the timed ranks: milliseconds, if ranks outnumber
/// cores.
class StartLine {
 public:
  /// Collective.
  explicit StartLine(const Communicator& comm);
  ~StartLine();
  StartLine(const StartLine&) = delete;
  StartLine& operator=(const StartLine&) = delete;

  /// Collective. Returns when every rank has called it.
  void wait();

  /// Collective. Bound on the hosts' skew in seconds, on all ranks: the time of an MPI_Barrier
  /// between them. 0 with one host.
  double hosts_apart();

 private:
  MPI_Comm comm_;
  Communicator node_;
  bool crowded_;
  MPI_Comm leaders_ = MPI_COMM_NULL;  // the first rank of each node
  SharedWindow window_;
  Flag* arrived_;   // arrivals of the node's other ranks, never reset
  Flag* released_;  // number of starts
  std::uint32_t starts_ = 0;
};

/// Measures the latency of a flag from rank 0 to rank 1, that is, the distance of their cores. On
/// virtual machines it changes during a run and biases comparisons. Needs both ranks on one node,
/// bound to different cpus.
class FlagProbe {
 public:
  /// Collective.
  FlagProbe(const Communicator& comm, const Binding& binding);
  ~FlagProbe();
  FlagProbe(const FlagProbe&) = delete;
  FlagProbe& operator=(const FlagProbe&) = delete;

  /// Collective over ranks 0 and 1; others return immediately. Returns the one-way latency in ns
  /// on rank 0; nothing elsewhere, without a probe, or after a timeout of 5 ms.
  std::optional<double> measure();

 private:
  std::optional<double> ping(std::uint32_t first, double deadline);
  void answer(std::uint32_t first, double deadline);

  MPI_Comm pair_ = MPI_COMM_NULL;
  std::unique_ptr<SharedWindow> window_;
  Flag* flags_[2] = {nullptr, nullptr};  // of rank 0 and of rank 1
  int rank_ = -1;
  std::uint32_t probes_ = 0;
};

}  // namespace parhelion::bench
