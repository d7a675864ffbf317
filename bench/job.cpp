#include "job.hpp"
#include "parhelion/core/collective.hpp"

#include <algorithm>

namespace parhelion::bench {

namespace {

using nlohmann::json;

double seconds_of(const json& object, const std::string& key, double fallback) {
    const double seconds = value_of(object, key, fallback);
    if (!(seconds >= 0 && seconds <= 60))
        throw Error(option(key) + " must be between 0 and 60 seconds");
    return seconds;
}

double precision_of(const json& object) {
    const double share = value_of(object, "precision", 0.0);
    if (!(share >= 0 && share < 1))
        throw Error("--precision must be a share of the median, from 0 (off) to below 1");
    return share;
}

}  // namespace

std::string option(std::string key) {
    std::replace(key.begin(), key.end(), '_', '-');
    return "--" + (key == "work-us" ? "overlap" : key);
}

Job job_of(const json& told, int ranks) {
    Job job;
    job.benchmark = value_of<std::string>(told, "benchmark", "");
    job.ranks = static_cast<int>(integer_of(told, "ranks", ranks, 1, 1 << 30));
    job.launch = static_cast<int>(integer_of(told, "launch", 0, 0, 1 << 30));
    if (told.contains("pair")) job.pair = static_cast<int>(integer_of(told, "pair", 0, 0, 1 << 30));
    job.seed = static_cast<std::uint64_t>(integer_of(told, "seed", 1, 0, INT64_MAX));
    job.repetitions =
        static_cast<int>(integer_of(told, "repetitions", job.repetitions, 1, 1000000));
    job.most_repetitions =
        static_cast<int>(integer_of(told, "most_repetitions", job.most_repetitions, 1, 1000000));
    job.precision = precision_of(told);
    job.min_sample_s = seconds_of(told, "min_sample_s", job.min_sample_s);
    job.bind = value_of(told, "bind", job.bind);
    job.per_node = value_of(told, "per_node", job.per_node);
    job.contenders = value_of(told, "contenders", job.contenders);
    job.cases = value_of(told, "cases", job.cases);
    job.params = value_of(told, "params", job.params);
    if (job.cases.empty())
        throw Error("there is no case: give at least one, such as a DATASET of the gather");
    if (job.ranks != ranks)
        throw Error("--ranks " + std::to_string(job.ranks) + ", but " + std::to_string(ranks) +
                    " were started: run mpiexec -n " + std::to_string(job.ranks));
    return job;
}

std::int64_t integer_of(const json& object, const std::string& key, std::int64_t fallback,
                        std::int64_t least, std::int64_t most) {
    if (!object.contains(key)) return fallback;
    const json& value = object.at(key);
    const bool whole = value.is_number_integer() &&
                       !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
    if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
        throw Error(option(key) + " is " + value.dump() + ": give a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most));
    return value.get<std::int64_t>();
}

}  // namespace parhelion::bench
