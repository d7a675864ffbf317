#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::bench {

/// The measurements of a command line.
struct Job {
  std::string benchmark;  // halo, gather, alltoall or apps
  int ranks = 0;          // 0: any number
  int launch = 0;
  std::uint64_t seed = 1;
  int repetitions = 30;
  /// Above 0: sample beyond `repetitions`, until the half-width of the median's 95 % confidence
  /// interval is below this fraction of the median, or until `most_repetitions`.
  double precision = 0;
  int most_repetitions = 1000;
  double min_sample_s = 0.0005;
  bool bind = true;
  bool per_node = false;              // count messages and bytes by level of the machine
  int pair = -1;                      // number of this interleaved A/B pair; -1: none
  std::string turns;                  // see Turns
  std::vector<std::string> variants;  // "all", or empty: all but `only_by_name`
  std::vector<nlohmann::json> cases;  // validated values of options
  nlohmann::json params = nlohmann::json::object();  // added to the params of every case line
  std::vector<std::string> arguments;                // of the program, for the record

  /// Random order of variants, different in every launch.
  std::mt19937_64 order() const {
    return std::mt19937_64(seed + (static_cast<std::uint64_t>(launch) << 32));
  }

  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(Job, benchmark, ranks, launch, seed, repetitions,
      precision, most_repetitions, min_sample_s, bind, per_node, pair, turns, variants, cases,
      params)
};

/// A command line, read without MPI. `complaint` names the fault and the remedy.
struct Request {
  Job job;
  std::string record;  // file of --json; empty: columns on standard output
  int cold_bytes = 0;  // per block of the first alltoall; 0: none
  std::string complaint;
};

/// Fisher-Yates shuffle; std::shuffle may differ between the standard libraries of two nodes.
template <class List>
void shuffle_alike(List& list, std::mt19937_64& random) {
  for (std::size_t left = list.size(); left > 1; --left)
    std::swap(list[left - 1], list[random() % left]);
}

/// Parses phl-bench's command line.
Request read_words(const std::vector<std::string>& words);

/// Help on all options, or on those of one benchmark.
std::string help_text(const std::string& benchmark = "");

}  // namespace parhelion::bench
