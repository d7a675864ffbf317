// The words on the command line of phl-bench, and the jobs that they ask for.
#pragma once

#include <string>
#include <vector>

#include "job.hpp"

namespace parhelion::bench {

/// A command line, read without MPI. `complaint` says what is wrong with it, and how to put it
/// right.
struct Request {
    nlohmann::json job;
    std::string record;                  // file of --json; empty: columns on standard output
    std::vector<std::string> arguments;  // all words but --json
    int cold_bytes = 0;                  // of the alltoall that precedes everything; 0: none
    std::string complaint;
};

Request read_words(const std::vector<std::string>& words);

/// All options, or those of one benchmark.
std::string help_text(const std::string& benchmark = "");

}  // namespace parhelion::bench
