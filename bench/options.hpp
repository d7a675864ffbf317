#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parhelion/core/communicator.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::bench {

/// What to measure.
struct Job {
    std::string benchmark;  // halo, gather, alltoall, setup or apps
    int ranks = 0;
    int launch = 0;
    std::uint64_t seed = 1;
    int repetitions = 30;
    /// Above 0: variants take samples beyond `repetitions`, until the 95 % interval of the median
    /// reaches no further from it than this share of it, or until `most_repetitions`.
    double precision = 0;
    int most_repetitions = 1000;
    double min_sample_s = 0.0005;
    bool bind = true;
    bool per_node = false;              // count messages and bytes by level of the machine
    std::vector<std::string> variants;  // "all", as none does, stands for all that need no naming
    std::vector<nlohmann::json> cases;
    std::vector<std::string> arguments;  // of the program, for the record
    std::optional<int> pair;  // of this start, where another build takes turns with this one
    nlohmann::json params =
        nlohmann::json::object();  // put into the params of every case line as they are
};

/// Local. Throws Error for options that cannot be used on so many ranks.
Job job_of(const nlohmann::json& told, int ranks);

/// An option's name as people write it, of a key of a job.
std::string option(std::string key);

/// The value of `key`, or `fallback` when it is missing. Throws Error naming the key when its type
/// is wrong.
template <class T>
T value_of(const nlohmann::json& object, const std::string& key, const T& fallback) {
    if (!object.contains(key)) return fallback;
    try {
        return object.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
        throw Error(option(key) + " has a value of the wrong type, " + object.at(key).dump());
    }
}

/// An integer within [least, most]; unlike the JSON library's own conversion it refuses 1.5 and
/// 1e30.
std::int64_t integer_of(const nlohmann::json& object, const std::string& key, std::int64_t fallback,
                        std::int64_t least, std::int64_t most);

// The words on the command line of phl-bench, and the jobs that they ask for.

/// A command line, read without MPI. `complaint` says what is wrong with it, and how to put it
/// right.
struct Request {
    nlohmann::json job;
    std::string record;                  // file of --json; empty: columns on standard output
    std::vector<std::string> arguments;  // all words but --json
    int cold_bytes = 0;                  // of the alltoall that precedes everything; 0: none
    std::string complaint;
};

/// Fisher and Yates, written out: std::shuffle may differ between the standard libraries of two
/// nodes.
template <class List>
void shuffle_alike(List& list, std::mt19937_64& random) {
    for (std::size_t left = list.size(); left > 1; --left)
        std::swap(list[left - 1], list[random() % left]);
}

Request read_words(const std::vector<std::string>& words);

/// All options, or those of one benchmark.
std::string help_text(const std::string& benchmark = "");

}  // namespace parhelion::bench
