#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <sstream>

#include "parhelion/core/error.hpp"

namespace parhelion::bench {

namespace {

using nlohmann::json;

enum class Kind { whole, number, word, choice, sides, yes_no, sizes, flag };

struct Option {
  const char *name, *of, *value, *usual, *help;
  Kind kind;
  bool each = true;  // a list makes cases; for options of all benchmarks it stays a list
  double least = 1, most = 1 << 30;  // bounds of numbers
};

// Options of all benchmarks have an empty `of`. In lists of cases the last options vary fastest.
constexpr Option options[] = {
    {"app", "apps", "NAMES", "multigrid_cg,finite_volume,poisson,shallow_water,hydrodynamics",
        "applications", Kind::word},
    {"grid", "halo apps ghosts", "PxQxR", "", "process grid [as cubic as possible]", Kind::sides,
        false},
    {"extent", "halo", "N or LxMxN", "64", "cells per rank, along each dimension", Kind::sides,
        false},
    {"extent", "apps", "N or LxMxN", "",
        "cells per rank of multigrid_cg and hydrodynamics [32], of the whole mesh [128]",
        Kind::sides, false},
    {"dataset", "gather", "FOLDER", "",
        "as `parhelion partition` writes it; the option's name can be left out", Kind::word},
    {"from", "gather", "TEXT", "", "distinguishes data sets of one name in records", Kind::word},
    {"size", "alltoall", "BYTES", "1-4M",
        "sent by each rank to each: a list, or a range of powers of two", Kind::sizes},
    {"element", "halo", "TYPES", "float32", "element types", Kind::word},
    {"element", "gather", "TYPES", "int32", "element types", Kind::word},
    {"extent", "ghosts", "N", "32", "rows of a rank, along each of three dimensions", Kind::whole},
    {"element", "ghosts", "TYPES", "float64", "element types", Kind::word},
    {"vdim", "ghosts", "N", "6,20,120", "numbers per row", Kind::whole},
    {"pattern", "ghosts", "faces|all-from-one", "faces",
        "rows of the six neighbors, or all of rank 0's", Kind::choice},
    {"components", "halo gather", "N", "1", "components per cell", Kind::whole, true, 1, 4096},
    {"neighbors", "halo", "full|faces", "full",
        "neighbors across edges and corners too, or faces only", Kind::choice},
    {"order", "halo", "F|C", "F", "order in memory", Kind::choice},
    {"periodic", "halo", "yes|no|yes,no,…", "yes", "whether opposite ends are neighbors",
        Kind::yes_no, false},
    {"seam", "halo", "none|fold|fold-center", "",
        "both sides of the second dimension are folded about corners or centers, not neighbors "
        "[none]",
        Kind::choice},
    {"memory", "halo", "host|device", "", "memory of the arrays [host]", Kind::choice, false},
    {"overlap", "halo", "WORK", "",
        "begin and end each exchange around this many microseconds of work", Kind::number, true, 0,
        1e6},
    {"uneven", "halo", "SHARE", "", "with --overlap: ranks work up to this fraction more or less",
        Kind::number, true, 0, 0.95},
    {"halo", "halo", "N", "1,2,4,5", "halo widths in cells", Kind::whole, true, 0, 1 << 20},
    {"fields", "halo", "N", "1,2,4,8", "numbers of fields", Kind::whole, true, 1, 4096},
    {"first-size", "alltoall", "BYTES", "",
        "size of the first call after MPI_Init, reported separately", Kind::sizes, false},
    {"variants", "", "NAMES", "", "which to measure [all]; phl-bench --list prints their names",
        Kind::word},
    {"json", "", "FILE", "", "append a record (JSON lines) to FILE instead of printing columns",
        Kind::word, false},
    {"repetitions", "", "N", "", "samples of each variant and case [30]", Kind::whole, false, 1,
        1e6},
    {"precision", "", "SHARE", "",
        "sample until the 95 % interval is within this fraction of the median", Kind::number, false,
        0, 0.99},
    {"most-repetitions", "", "N", "", "with --precision: maximum number of samples [1000]",
        Kind::whole, false, 1, 1e6},
    {"min-sample-s", "", "SECONDS", "", "minimum time of a sample [0.0005]", Kind::number, false, 0,
        60},
    {"seed", "", "N", "", "random seed for the order of variants [1]", Kind::whole, false, 0, 9e18},
    {"no-bind", "", nullptr, "", "do not bind ranks to cores", Kind::flag, false},
    {"per-node", "", nullptr, "", "count messages by level of the machine: cache, socket, node",
        Kind::flag, false},
    {"phases", "halo", nullptr, "",
        "also time post-recv, post-send, wait-recv and wait-send, as Comb", Kind::flag, false},
    {"ranks", "", "N", "", "stop if the number of ranks differs", Kind::whole, false},
    {"launch", "", "N", "", "number of this launch in a record; sets the order of cases",
        Kind::whole, false, 0},
    {"pair", "", "N", "", "number of the pair of launches, if two builds alternate", Kind::whole,
        false, 0},
    {"turns", "", "FOLDER/first|second", "",
        "alternate with another program, through named pipes in FOLDER", Kind::word, false},
    {"param", "", "KEY=VALUE", "", "add to the parameters of every case in a record", Kind::word},
};

constexpr const char* benchmarks[] = {"halo", "gather", "alltoall", "apps", "ghosts"};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

template <class T>
T number_of(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    throw Error("'" + text + "' is not a number in range");
  return number;
}

std::int64_t bytes_of(std::string text) {
  const std::string units = "KMG";
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  if (unit != std::string::npos) text.pop_back();
  const auto number = number_of<std::int64_t>(text);
  const int shift = unit == std::string::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  if (number < 1 || number > INT_MAX >> shift)  // MPI counts in int
    throw Error("'" + text + "' is not a number of bytes from 1 to 2147483647");
  return number << shift;
}

json sizes_of(const std::string& text) {
  const auto ends = split(text, '-');
  if (ends.size() == 1) return json::array({bytes_of(text)});
  json sizes = json::array();
  if (ends.size() != 2) throw Error("'" + text + "' is not a range of sizes");
  for (std::int64_t size = 1, last = bytes_of(ends[1]); size <= last; size *= 2)
    if (size >= bytes_of(ends[0])) sizes.push_back(size);
  return sizes;
}

json number_of(const Option& option, const std::string& text) {
  const json number = option.kind == Kind::number ? json(number_of<double>(text))
                                                  : json(number_of<std::int64_t>(text));
  if (!(number >= option.least && number <= option.most)) {  // also not a number
    std::ostringstream why;
    why.precision(15);
    why << "'" << text << "': give a number from " << option.least << " to " << option.most;
    throw Error(why.str());
  }
  return number;
}

json part_of(const Option& option, const std::string& text) {
  if (option.kind == Kind::word) return text;
  if (option.kind != Kind::choice && option.kind != Kind::yes_no) return number_of(option, text);
  const auto choices = split(option.kind == Kind::choice ? option.value : "yes|no", '|');
  if (std::ranges::find(choices, text) == choices.end()) {
    std::string names = choices[0];
    for (std::size_t i = 1; i < choices.size(); ++i)
      names += (i + 1 < choices.size() ? ", " : " or ") + choices[i];
    throw Error("'" + text + "': write " + names);
  }
  return option.kind == Kind::choice ? json(text) : json(text == choices[0]);
}

// A value, or a list for options that allow several.
json value_of(const Option& option, std::string text) {
  if (option.kind == Kind::flag) return true;
  if (option.kind == Kind::sides) std::replace(text.begin(), text.end(), 'x', ',');
  if (option.kind == Kind::sizes && !option.each) return bytes_of(text);
  if (!option.each && option.kind != Kind::sides && option.kind != Kind::yes_no)
    return part_of(option, text);
  json values = json::array();
  for (const std::string& part : split(text, ','))
    for (const json& each :
        option.kind == Kind::sizes ? sizes_of(part) : json::array({part_of(option, part)}))
      values.push_back(each);
  if (values.empty()) throw Error("give a value");
  if (option.kind == Kind::yes_no && values.size() == 1) return values[0];
  return values;
}

bool belongs_to(const Option& option, const std::string& benchmark) {
  const auto names = split(option.of, ' ');
  return names.empty() || std::find(names.begin(), names.end(), benchmark) != names.end();
}

const Option& option_of(const std::string& benchmark, const std::string& name) {
  for (const Option& option : options)
    if (name == option.name && belongs_to(option, benchmark)) return option;
  throw Error("unknown option: phl-bench " + benchmark + " --help lists all");
}

std::string key_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name == "overlap" ? "work_us" : name;
}

// Adds a case per combination of option values.
void add_cases(json& cases, const json& told, const std::string& benchmark) {
  std::vector<json> made{json::object()};
  for (const Option& option : options) {
    if (!*option.of || !belongs_to(option, benchmark) || std::string("first-size") == option.name)
      continue;
    const std::string key = key_of(option.name);
    if (!told.contains(key) && !*option.usual) continue;
    const json value = told.contains(key) ? told.at(key) : value_of(option, option.usual);
    std::vector<json> next;
    for (const json& one : made)
      for (const json& each : option.each ? value : json::array({value}))
        (next.emplace_back(one))[key] = each;
    made = std::move(next);
  }
  for (const json& one : made) cases.push_back(one);
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  Request read() {
    const std::string benchmark = words_.empty() ? "" : words_[0];
    if (std::ranges::find(benchmarks, benchmark) == std::end(benchmarks))
      throw Error("'" + benchmark +
                  "' is not a benchmark: write phl-bench halo, gather, alltoall or apps; "
                  "--help lists the options");
    job_["benchmark"] = benchmark;
    std::vector<std::string> arguments{benchmark};
    for (next_ = 1; next_ < words_.size();) {
      const std::size_t first = next_++;
      take(benchmark, words_[first]);
      if (words_[first].starts_with("--json") || words_[first].starts_with("--turns"))
        continue;  // may differ between ranks and launches
      for (std::size_t i = first; i < next_; ++i) arguments.push_back(words_[i]);
    }
    add_cases(job_["cases"], section_, benchmark);
    Job& job = request_.job = job_.get<Job>();
    job.arguments = std::move(arguments);
    if (job_.contains("launch")) {
      auto random = job.order();
      shuffle_alike(job.cases, random);
    }
    return std::move(request_);
  }

 private:
  void take(const std::string& benchmark, const std::string& word) {
    if (word == "--case") return next_case(benchmark);
    const bool named = word.starts_with("--");
    if (!named && benchmark != "gather")
      throw Error("'" + word + "' is not an option: options begin with --");
    const std::size_t equals = named ? word.find('=') : std::string::npos;
    const std::string name = named ? word.substr(2, equals - 2) : "dataset";
    try {
      const Option& option = option_of(benchmark, name);
      if (named && equals == std::string::npos && option.kind != Kind::flag &&
          next_ == words_.size())
        throw Error("give a value");
      keep(option, !named                        ? word
                   : equals != std::string::npos ? word.substr(equals + 1)
                   : option.kind == Kind::flag   ? ""
                                                 : words_[next_++]);
    } catch (const Error& error) {
      throw Error("--" + name + ": " + error.what());
    }
  }

  void keep(const Option& option, const std::string& text) {
    const std::string key = key_of(option.name);
    const std::size_t equals = text.find('=');
    if (key == "json") request_.record = text;
    else if (key == "first_size") request_.cold_bytes = value_of(option, text);
    else if (key == "no_bind") job_["bind"] = false;
    else if (key == "param") job_["params"][text.substr(0, equals)] = text.substr(equals + 1);
    else if (!*option.of) job_[key] = value_of(option, text);
    else if (key == "dataset" || key == "from") section_[key].push_back(text);
    else section_[key] = value_of(option, text);
  }

  // Options before the first --case apply to all cases.
  void next_case(const std::string& benchmark) {
    if (common_.is_null()) common_ = section_;
    else add_cases(job_["cases"], section_, benchmark);
    section_ = common_;
  }

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  Request request_;
  json job_, common_, section_ = json::object();
};

}  // namespace

Request read_words(const std::vector<std::string>& words) {
  try {
    return Reader(words).read();
  } catch (const Error& error) {
    return {{}, "", 0, error.what()};
  }
}

std::string help_text(const std::string& benchmark) {
  std::ostringstream text;
  text << "usage: mpiexec -n RANKS phl-bench BENCHMARK [OPTIONS]      (or srun, or any other "
          "launcher)\n"
          "       phl-bench --list                                   all variants, as JSON\n\n"
          "Benchmarks: halo, gather, alltoall, apps; ghosts in Python. A list with commas "
          "makes a case of each value;\n"
          "--case begins another case, with the options before the first --case and its own.\n"
          "Exit status: 0; 1 when a value was wrong; 2 for bad input.\n\n";
  for (const Option& option : options) {
    if (!benchmark.empty() && !belongs_to(option, benchmark)) continue;
    const std::string left =
        std::string("  --") + option.name + (option.value ? std::string(" ") + option.value : "");
    text << left << std::string(left.size() < 28 ? 28 - left.size() : 1, ' ') << option.help;
    if (*option.usual) text << " [" << option.usual << "]";
    if (*option.of && benchmark.empty()) text << " (" << option.of << ")";
    text << '\n';
  }
  return text.str();
}

}  // namespace parhelion::bench
