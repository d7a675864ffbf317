#include "job.hpp"
#include "parhelion/core/collective.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace parhelion::bench {

namespace {

using nlohmann::json;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) throw Error("cannot read the job " + path + ": give an existing, non-empty file");
    return text.str();
}

// Only rank 0 needs to see the file: the nodes of a cluster may not share every folder.
std::string text_on_every_rank(const std::string& path, const Communicator& comm) {
    std::string text;
    validate_together(comm, [&] {
        if (comm.rank() == 0) text = text_of(path);
    });
    auto length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, comm.handle());
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm.handle());
    return text;
}

json parsed(const std::string& text, const std::string& path) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& e) {
        throw Error("the job " + path + " is not JSON: " + e.what());
    }
}

double seconds_of(const json& object, const std::string& key, double fallback) {
    const double seconds = value_of(object, key, fallback);
    if (!(seconds >= 0 && seconds <= 60)) throw Error("job: '" + key + "' must be between 0 and 60 seconds");
    return seconds;
}

double precision_of(const json& object) {
    const double share = value_of(object, "precision", 0.0);
    if (!(share >= 0 && share < 1)) throw Error("job: 'precision' must be a share of the median, from 0 (off) to below 1");
    return share;
}

Job job_of(const json& object) {
    if (!object.is_object()) throw Error("the job is not a JSON object");
    const auto schema = value_of<std::string>(object, "schema", "");
    if (schema != "parhelion.job/1") throw Error("job: schema '" + schema + "' is unknown: write parhelion.job/1");
    Job job;
    job.benchmark = value_of<std::string>(object, "benchmark", "");
    job.ranks = static_cast<int>(integer_of(object, "ranks", 0, 0, 1 << 30));
    job.launch = static_cast<int>(integer_of(object, "launch", 0, 0, 1 << 30));
    if (object.contains("pair")) job.pair = static_cast<int>(integer_of(object, "pair", 0, 0, 1 << 30));
    job.seed = static_cast<std::uint64_t>(integer_of(object, "seed", 1, 0, INT64_MAX));
    job.repetitions = static_cast<int>(integer_of(object, "repetitions", job.repetitions, 1, 1000000));
    job.most_repetitions = static_cast<int>(integer_of(object, "most_repetitions", job.most_repetitions, 1, 1000000));
    job.precision = precision_of(object);
    job.min_sample_s = seconds_of(object, "min_sample_s", job.min_sample_s);
    job.bind = value_of(object, "bind", job.bind);
    job.per_node = value_of(object, "per_node", job.per_node);
    job.contenders = value_of(object, "contenders", job.contenders);
    job.cases = value_of(object, "cases", job.cases);
    job.params = value_of(object, "params", job.params);
    if (!job.params.is_object()) throw Error("job: 'params' is not an object");
    if (job.cases.empty()) throw Error("job: 'cases' is empty: give at least one case");
    return job;
}

void check_ranks(const Job& job, int started) {
    if (job.ranks != 0 && job.ranks != started)
        throw Error("the job is for " + std::to_string(job.ranks) + " ranks but " + std::to_string(started) +
                    " were started: run mpiexec -n " + std::to_string(job.ranks));
}

}  // namespace

Job read_job(const std::string& path, const Communicator& comm) {
    Job job = job_of(parsed(text_on_every_rank(path, comm), path));
    check_ranks(job, comm.size());
    job.ranks = comm.size();
    return job;
}

std::int64_t integer_of(const json& object, const std::string& key, std::int64_t fallback, std::int64_t least, std::int64_t most) {
    if (!object.contains(key)) return fallback;
    const json& value = object.at(key);
    const bool whole = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
    if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
        throw Error("job: '" + key + "' is " + value.dump() + ": give a whole number from " + std::to_string(least) + " to " +
                    std::to_string(most));
    return value.get<std::int64_t>();
}

void refuse_other_keys(const json& object, const std::string& what, const std::vector<std::string>& known) {
    if (!object.is_object()) throw Error("job: " + what + " is not an object: " + object.dump());
    for (const auto& [key, value] : object.items())
        if (std::find(known.begin(), known.end(), key) == known.end()) throw Error("job: " + what + " has an unknown key '" + key + "'");
}

}  // namespace parhelion::bench
