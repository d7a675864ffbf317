#pragma once

#include <array>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "parhelion/core/communicator.hpp"
#include "parhelion/placement/placed_comm.hpp"
#include "samples.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// Counts messages by the innermost unit of the machine that sender and receiver share.
class Levels {
 public:
  /// Collective. Discovers the ranks' positions, without levels in which some rank is unbound.
  explicit Levels(const Communicator& comm);

  /// Collective. {"own_rank": {"messages", "bytes"}, …, "node", "other_node", "busiest_node"}:
  /// sums over all ranks, and the maximum over nodes that leaves a node. Null if a rank's
  /// messages are unknown.
  nlohmann::json count(const Traffic& traffic) const;

 private:
  struct Sum {
    std::int64_t messages = 0, bytes = 0;
    void add(const Sent& sent) { ++messages, bytes += sent.bytes; }
  };
  std::size_t level_of(int rank) const;
  Sum busiest(Sum leaving) const;

  Communicator comm_;
  placement::Discovered here_;
  std::vector<int> positions_;      // of all ranks
  std::vector<std::string> names_;  // from own_rank outwards
};

/// Results of one variant of a case; the same on every rank, but lists by rank are on rank 0 only.
struct Outcome {
  std::string variant, role;
  std::optional<std::string> skipped, error;
  bool verified = false;
  double pattern_s = 0, plan_s = 0, first_s = 0;  // maximum over ranks
  std::int64_t iterations = 0;
  std::vector<std::vector<double>> samples_by_rank;
  std::vector<std::optional<double>> probe_ns;
  Skew skew;
  Traffic traffic;                  // maximum over ranks
  nlohmann::json traffic_by_level;  // see Levels::count; null: not requested, or unknown
  std::vector<double> exchange_s;   // of applications, see Variant::step_held; mean over ranks
  int exchange_lines = 0;
  std::optional<double> energy_j;  // of all nodes per exchange, mean over the samples
  std::array<std::vector<double>, std::tuple_size_v<Phases>> phases_s;  // mean over ranks
  nlohmann::json explain;
};

/// Receives the outcome of one variant of a case.
using ReportOutcome = std::function<void(const Case&, const Outcome&)>;

/// Collective. Gathers the samples, equally many per rank: a list per rank on rank 0, empty
/// elsewhere.
std::vector<std::vector<double>> samples_by_rank(
    const std::vector<double>& mine, const Communicator& comm);

/// The record: JSON lines of schema `parhelion.record/1`, written by rank 0 and flushed per line,
/// so that readers see each case as it ends and a crash loses none; columns on standard output
/// without a file. Other ranks' calls do nothing. A failed write throws std::runtime_error on rank
/// 0 only.
class Record {
 public:
  /// Collective. Opens for appending; an empty file gets a `run` line first. Throws Error on
  /// every rank if rank 0 cannot open it, or if it holds this launch.
  Record(const std::string& path, const Communicator& comm, const Job& job);

  void launch(nlohmann::json facts);
  void plan(std::size_t lines);
  void outcome(const Case& which, const Outcome& outcome);
  void end(int status);

 private:
  void write(nlohmann::json line);
  void print(const std::string& text);

  nlohmann::json run_;     // the first line of a file
  std::string last_case_;  // case of the last printed columns
  int launch_;
  nlohmann::json params_;  // added to the params of every case
  bool writes_;
  std::string path_;
  std::ofstream file_;
};

}  // namespace parhelion::bench
