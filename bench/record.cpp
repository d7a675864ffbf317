#include "record.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "parhelion/core/collective.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

bool is_known(const Communicator& comm, const Traffic& traffic) {
  int unknown = !traffic.known || (traffic.bytes > 0 && traffic.sent.empty());
  MPI_Allreduce(MPI_IN_PLACE, &unknown, 1, MPI_INT, MPI_MAX, comm.handle());
  return unknown == 0;
}

}  // namespace

Levels::Levels(const Communicator& comm)
    : comm_(comm), here_(placement::discover(comm.handle())),
      positions_(static_cast<std::size_t>(comm.size())) {
  MPI_Allgather(&here_.position, 1, MPI_INT, positions_.data(), 1, MPI_INT, comm.handle());
  names_.push_back("own_rank");
  const auto& levels = here_.machine.level_names();
  names_.insert(names_.end(), levels.rbegin(), levels.rend());
  names_.push_back("other_node");
}

std::size_t Levels::level_of(int rank) const {
  if (rank == comm_.rank()) return 0;
  const int levels = here_.machine.levels();
  for (int l = levels - 1; l >= 0; --l)
    if (here_.machine.unit_of(l, positions_[static_cast<std::size_t>(rank)]) ==
        here_.machine.unit_of(l, here_.position))
      return static_cast<std::size_t>(levels - l);
  return names_.size() - 1;
}

Levels::Sum Levels::busiest(Sum leaving) const {
  std::vector<Sum> by_node(static_cast<std::size_t>(here_.machine.nodes()));
  by_node[static_cast<std::size_t>(here_.machine.node_of(here_.position))] = leaving;
  MPI_Allreduce(MPI_IN_PLACE, by_node.data(), 2 * here_.machine.nodes(), MPI_INT64_T, MPI_SUM,
      comm_.handle());
  Sum most;
  for (const Sum& node : by_node)
    most = {std::max(most.messages, node.messages), std::max(most.bytes, node.bytes)};
  return most;
}

nlohmann::json Levels::count(const Traffic& traffic) const {
  if (!is_known(comm_, traffic)) return nullptr;
  std::vector<Sum> sums(names_.size());
  for (const Sent& sent : traffic.sent) sums[level_of(sent.rank)].add(sent);
  const Sum most = busiest(sums.back());
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2 * static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM,
      comm_.handle());
  nlohmann::json told;
  for (std::size_t l = 0; l < sums.size(); ++l)
    told[names_[l]] = {{"messages", sums[l].messages}, {"bytes", sums[l].bytes}};
  told["busiest_node"] = {{"messages", most.messages}, {"bytes", most.bytes}};
  return told;
}

namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

// An exchange ends when its last rank does.
std::vector<double> maximum_over_ranks(const std::vector<std::vector<double>>& by_rank) {
  std::vector<double> slowest = by_rank.empty() ? std::vector<double>{} : by_rank.front();
  for (const auto& samples : by_rank)
    for (std::size_t i = 0; i < samples.size(); ++i) slowest[i] = std::max(slowest[i], samples[i]);
  return slowest;
}

json setup_of(const Outcome& outcome) {
  return {{"pattern", outcome.pattern_s}, {"plan", outcome.plan_s}, {"first", outcome.first_s}};
}

json probes_of(const Outcome& outcome) {
  json probes = json::array();
  for (const auto& probe : outcome.probe_ns) probes.push_back(or_null(probe));
  return probes;
}

json run_of(const Job& job) {
  const std::time_t now = std::time(nullptr);
  const auto text = [&](const char* format) {
    std::array<char, 40> written{};
    return std::string(
        written.data(), std::strftime(written.data(), written.size(), format, std::gmtime(&now)));
  };
  std::vector<std::string> argv = job.arguments;
  argv.insert(argv.begin(), "phl-bench");
  return {{"type", "run"}, {"run", text("%Y%m%dT%H%M%S-") + job.benchmark},
      {"benchmark", job.benchmark}, {"created", text("%Y-%m-%dT%H:%M:%S+00:00")}, {"argv", argv},
      {"labels", json::object()}, {"environment", json::object()}};
}

double microseconds(double seconds) { return seconds * 1e6; }

// In the style of the OSU benchmarks.
std::string columns_of(const Outcome& outcome) {
  const std::string name =
      outcome.variant +
      std::string(outcome.variant.size() < 28 ? 28 - outcome.variant.size() : 1, ' ');
  if (outcome.skipped) return "# " + name + "skipped: " + *outcome.skipped + "\n";
  std::vector<double> samples = maximum_over_ranks(outcome.samples_by_rank);
  if (samples.empty()) return "# " + name + "failed: " + outcome.error.value_or("no sample") + "\n";
  std::sort(samples.begin(), samples.end());
  const double median = (samples[samples.size() / 2] + samples[(samples.size() - 1) / 2]) / 2;
  const auto count = [&](std::int64_t number) {
    return outcome.traffic.known ? std::to_string(number) : std::string("-");
  };
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%14.2f %14.2f %14.2f %12s %10s   %s\n",
      microseconds(median), microseconds(samples.front()), microseconds(samples.back()),
      count(outcome.traffic.bytes).c_str(), count(outcome.traffic.messages).c_str(),
      outcome.verified ? "pass" : "FAIL");
  return name + text.data();
}

// The system's message and the free space of the file system.
std::string why_not_written(int error, const std::string& path) {
  std::string why = error ? std::system_category().message(error) : "the write failed";
  std::error_code unknown;
  const auto room = std::filesystem::space(path, unknown);
  if (!unknown)
    why += " (" + std::to_string(room.available >> 10) + " of " +
           std::to_string(room.capacity >> 10) + " KiB free on that disk)";
  return why;
}

bool holds_launch(const std::string& path, int launch) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find("\"type\":\"launch\"") != std::string::npos) {
      const json told = json::parse(line, nullptr, false);
      if (told.is_object() && told.value("launch", json()) == launch) return true;
    }
  return false;
}

}  // namespace

std::vector<std::vector<double>> samples_by_rank(
    const std::vector<double>& mine, const Communicator& comm) {
  const std::size_t each = mine.size();
  std::vector<double> all(each * static_cast<std::size_t>(comm.rank() == 0 ? comm.size() : 0));
  MPI_Gather(mine.data(), static_cast<int>(each), MPI_DOUBLE, all.data(), static_cast<int>(each),
      MPI_DOUBLE, 0, comm.handle());
  std::vector<std::vector<double>> by_rank;
  for (auto first = all.begin(); first != all.end() && each > 0;
      first += static_cast<std::ptrdiff_t>(each))
    by_rank.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
  return by_rank;
}

Record::Record(const std::string& path, const Communicator& comm, const Job& job)
    : launch_(job.launch), params_(job.params), writes_(comm.rank() == 0), path_(path) {
  validate_together(comm, [&] {
    if (!writes_ || path_.empty()) return;
    if (holds_launch(path, launch_))
      throw Error("the record " + path + " already holds launch " + std::to_string(launch_) +
                  ": name another file (or folder), or give the next number (--launch)");
    file_.open(path, std::ios::app);
    if (!file_)
      throw Error(
          "cannot write the record " + path + ": give a file in a folder that exists and is yours");
  });
  if (file_.is_open() && file_.tellp() == 0) run_ = run_of(job);
}

void Record::launch(json facts) {
  if (!run_.is_null()) write(std::exchange(run_, nullptr));
  facts["type"] = "launch";
  write(std::move(facts));
}

void Record::plan(std::size_t lines) { write({{"type", "plan"}, {"cases", lines}}); }

void Record::outcome(const Case& which, const Outcome& outcome) {
  if (path_.empty()) {
    const std::string told = which.name + which.params.dump();
    if (told != last_case_)
      print("\n# " + which.name +
            "\n# Variant                     Median (us)       Min (us)       Max (us)       "
            " Bytes   Messages   Values\n");
    last_case_ = told;
    return print(columns_of(outcome));
  }
  json params = which.params;
  params.update(params_);
  json line{{"type", "case"}, {"name", which.name}, {"params", std::move(params)},
      {"variant", outcome.variant}, {"role", outcome.role}, {"verified", outcome.verified},
      {"error", or_null(outcome.error)}, {"skipped", or_null(outcome.skipped)},
      {"setup_s", setup_of(outcome)}, {"iterations", outcome.iterations},
      {"samples", maximum_over_ranks(outcome.samples_by_rank)},
      {"samples_by_rank", outcome.samples_by_rank}, {"probe_ns", probes_of(outcome)},
      {"bytes", nullptr}, {"messages", nullptr}, {"explain", outcome.explain}};
  if (!outcome.skew.seconds.empty()) {
    line["skew_s"] = outcome.skew.seconds;
    line["last_rank"] = outcome.skew.last_rank;
  }
  constexpr const char* phases[] = {"post_recv", "post_send", "wait_recv", "wait_send"};
  for (std::size_t i = 0; i < outcome.phases_s.size(); ++i)
    if (!outcome.phases_s[i].empty()) line["phases_s"][phases[i]] = outcome.phases_s[i];
  if (outcome.energy_j) line["energy_j"] = *outcome.energy_j;
  if (!outcome.exchange_s.empty()) line["exchange_s"] = outcome.exchange_s;
  if (outcome.traffic.known)
    line["bytes"] = outcome.traffic.bytes, line["messages"] = outcome.traffic.messages;
  if (!outcome.traffic_by_level.is_null()) line["traffic_by_level"] = outcome.traffic_by_level;
  if (outcome.exchange_lines > 0) line["exchange_lines"] = outcome.exchange_lines;
  write(std::move(line));
}

void Record::end(int status) { write({{"type", "end"}, {"status", status}}); }

void Record::write(json line) {
  if (!writes_ || path_.empty()) return;
  line["schema"] = "parhelion.record/1";
  if (line["type"] != "run") line["launch"] = launch_;
  // Paths and host names need not be UTF-8: replace invalid bytes instead of losing the line.
  errno = 0;
  file_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
  if (!file_)
    throw std::runtime_error(
        "cannot write to the record " + path_ + ": " + why_not_written(errno, path_));
}

void Record::print(const std::string& text) {
  if (writes_ && (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0))
    throw std::runtime_error(
        "cannot write standard output: " + std::system_category().message(errno));
}

}  // namespace parhelion::bench
