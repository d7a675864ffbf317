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

/// The innermost unit of the machine that two ranks share: which level each message stays within.
class Levels {
public:
    /// Collective. Where all ranks sit; levels within which some rank is not bound are not told
    /// apart.
    explicit Levels(const Communicator& comm);

    /// Collective. {"own_rank": {"messages", "bytes"}, …, "node", "other_node", "busiest_node"}:
    /// sums over all ranks, and what leaves the node that most leaves. Null where some rank's
    /// messages are not known.
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
    std::vector<std::string> names_;  // from the own rank outwards
};

/// How one variant of a case fared; the same on every rank but for the lists by rank, which only
/// rank 0 has.
struct Outcome {
    std::string variant, role;
    std::optional<std::string> skipped, error;
    bool verified = false;
    double pattern_s = 0, plan_s = 0, first_s = 0;  // maximum over ranks
    std::int64_t iterations = 0;
    std::vector<std::vector<double>> samples_by_rank;
    std::vector<std::optional<double>> probe_ns;
    Skew skew;
    Traffic traffic;  // maximum over ranks
    nlohmann::json
        traffic_by_level;  // of all ranks, see Levels::count; null: not asked for, or not known
    std::vector<double> exchange_s;  // beside each sample, of whole applications: see
                                     // Variant::step_held; mean over ranks
    int exchange_lines = 0;
    std::optional<double> energy_j;  // of all nodes per exchange, mean over the samples
    std::array<std::vector<double>, std::tuple_size_v<Phases>> phases_s;  // alike, see Phases
    nlohmann::json explain;
};

/// Takes what became of one variant of a case.
using ReportOutcome = std::function<void(const Case&, const Outcome&)>;

/// Collective. Every rank's samples, of which each has as many: a list per rank on rank 0, nothing
/// elsewhere.
std::vector<std::vector<double>> samples_by_rank(const std::vector<double>& mine,
                                                 const Communicator& comm);

/// The record: JSON lines of schema `parhelion.record/1`, written by rank 0 and flushed line by
/// line, so that whoever follows the file sees every case as it ends and a crash loses nothing;
/// without a file, columns on standard output. On other ranks all calls do nothing. A failed write
/// throws std::runtime_error on rank 0 alone.
class Record {
public:
    /// Collective. Opens for appending, and begins an empty file as a run; throws Error on every
    /// rank when rank 0 cannot.
    Record(const std::string& path, const Communicator& comm, const Job& job);

    void launch(nlohmann::json facts);
    void plan(std::size_t lines);
    void outcome(const Case& which, const Outcome& outcome);
    void end(int status);

private:
    void write(nlohmann::json line);
    void print(const std::string& text);

    nlohmann::json run_;     // the line that begins a file
    std::string last_case_;  // whose columns stand last
    int launch_;
    nlohmann::json params_;  // put into those of every case
    bool writes_;
    std::string path_;
    std::ofstream file_;
};

}  // namespace parhelion::bench
