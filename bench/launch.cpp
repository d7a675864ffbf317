#include "launch.hpp"

#include <link.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "core/resources.hpp"
#include "environment_names.hpp"

namespace parhelion::bench {

namespace {

constexpr std::size_t most_cpus = 1 << 14;  // cpu_set_t holds 1,024
using CpuSet = std::bitset<most_cpus>;
using Words = std::array<std::uint64_t, most_cpus / 64>;

CpuSet my_cpus() {
  const CpuMask words = usable_threads();
  CpuSet cpus;
  for (std::size_t cpu = 0; cpu < std::min(most_cpus, words.size() * 64); ++cpu)
    cpus[cpu] = words[cpu / 64] >> cpu % 64 & 1;
  return cpus;
}

void run_only_on(std::size_t cpu) {
  if (cpu >= most_cpus) return;
  Words words{};
  words[cpu / 64] = std::uint64_t{1} << cpu % 64;
  sched_setaffinity(0, sizeof words, reinterpret_cast<const cpu_set_t*>(words.data()));
}

std::vector<int> listed(const CpuSet& cpus) {
  std::vector<int> list;
  for (std::size_t cpu = 0; cpu < most_cpus; ++cpu)
    if (cpus[cpu]) list.push_back(static_cast<int>(cpu));
  return list;
}

template <class T>
std::vector<T> from_all_ranks(MPI_Comm comm, const T& mine) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<T> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, comm);
  return all;
}

std::string my_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> all_hosts(const Communicator& comm) {
  std::array<char, 256> mine{};
  my_host().copy(mine.data(), mine.size() - 1);
  std::vector<std::string> hosts;
  for (const auto& name : from_all_ranks(comm.handle(), mine)) hosts.emplace_back(name.data());
  return hosts;
}

// Whether the launcher left the node's ranks unbound: all have the same two or more cpus.
bool left_free(const Communicator& node) {
  const CpuSet mine = my_cpus();
  if (mine.count() < 2) return false;
  for (const CpuSet& other : from_all_ranks(node.handle(), mine))
    if (other != mine) return false;
  return true;
}

CpuMask threads_of_all(const Communicator& node) {
  CpuMask threads = usable_threads();
  MPI_Allreduce(MPI_IN_PLACE, threads.data(), static_cast<int>(threads.size()), MPI_UINT64_T,
      MPI_BOR, node.handle());
  return threads;
}

}  // namespace

bool Binding::on_own_cores(int rank, int other) const {
  const auto a = static_cast<std::size_t>(rank), b = static_cast<std::size_t>(other);
  return hosts[a] == hosts[b] && cpus[a].size() == 1 && cpus[b].size() == 1 && cpus[a] != cpus[b];
}

Binding bind_ranks(const Communicator& comm, bool bind) {
  const Communicator& node = comm.node();
  int free = left_free(node);
  if (bind && free) {
    const std::vector<int> allowed = core_by_core(usable_threads());
    run_only_on(
        static_cast<std::size_t>(allowed[static_cast<std::size_t>(node.rank()) % allowed.size()]));
  }
  MPI_Allreduce(MPI_IN_PLACE, &free, 1, MPI_INT, MPI_MAX, comm.handle());
  Binding binding{all_hosts(comm), {}, !free ? "launcher" : bind ? "self" : "none", {}};
  binding.cores = from_all_ranks(comm.handle(), cores_at_once(threads_of_all(node)));
  for (const CpuSet& cpus : from_all_ranks(comm.handle(), my_cpus()))
    binding.cpus.push_back(listed(cpus));
  return binding;
}

bool more_ranks_than_cpus(const Communicator& node) {
  int crowded = node.size() > processes_at_once(threads_of_all(node));  // control groups may differ
  MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, node.handle());
  return crowded != 0;
}

namespace {

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const char* text) {
  std::vector<std::string> words;
  for (const std::string& line : lines_of(text)) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  return words;
}

bool is_like(const std::string& name, const std::string& pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

bool known(const std::string& name) {
  static const std::vector<std::string> words = words_of(variable_names);
  const auto any = [](const std::string& of) {
    return std::any_of(
        words.begin(), words.end(), [&](const std::string& word) { return is_like(of, word); });
  };
  return any(name) && !any("!" + name);
}

std::vector<std::regex> patterns(const std::string& kind) {
  std::vector<std::regex> found;
  for (const std::string& line : lines_of(secret_patterns))
    if (line.rfind(kind + " ", 0) == 0)
      found.emplace_back(line.substr(kind.size() + 1), std::regex::ECMAScript | std::regex::icase);
  return found;
}

bool any_matches(const std::vector<std::regex>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
      [&](const std::regex& p) { return std::regex_search(text, p); });
}

}  // namespace

bool smells_of_a_secret(const std::string& name, const std::string& value) {
  static const std::vector<std::regex> names = patterns("name"), values = patterns("value");
  return any_matches(names, name) || any_matches(values, value);
}

nlohmann::json known_variables() {
  nlohmann::json found = nlohmann::json::object();
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (known(name) && !smells_of_a_secret(name, value)) found[name] = value;
  }
  return found;
}

namespace {

using nlohmann::json;

constexpr int longest = 4096;

struct Variable {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int bound_to = MPI_T_BIND_NO_OBJECT;
};

bool of_interest(std::string name) {
  static const std::array<const char*, 6> words{
      "alltoall", "eager", "rndv", "device_collectives", "netmod", "fabrics"};
  std::transform(
      name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(
      words.begin(), words.end(), [&](const char* w) { return name.find(w) != std::string::npos; });
}

bool describe(int index, Variable& variable) {
  std::array<char, longest> name{}, text{};
  int name_length = longest, text_length = longest, verbosity = 0, scope = 0;
  MPI_T_enum values{};
  if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &variable.type, &values,
          text.data(), &text_length, &variable.bound_to, &scope) != MPI_SUCCESS)
    return false;
  variable.name = name.data();
  return true;
}

template <class T>
json first_of(const std::array<char, longest>& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

json decoded(MPI_Datatype type, const std::array<char, longest>& bytes) {
  if (type == MPI_CHAR) return std::string(bytes.data(), strnlen(bytes.data(), bytes.size()));
  if (type == MPI_INT) return first_of<int>(bytes);
  if (type == MPI_UNSIGNED) return first_of<unsigned>(bytes);
  if (type == MPI_UNSIGNED_LONG) return first_of<unsigned long>(bytes);
  if (type == MPI_UNSIGNED_LONG_LONG) return first_of<unsigned long long>(bytes);
  if (type == MPI_DOUBLE) return first_of<double>(bytes);
  return nullptr;
}

json variable_value(int index, const Variable& variable) {
  MPI_T_cvar_handle handle{};
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return nullptr;
  std::array<char, longest> bytes{};
  const bool fits = count > 0 && count < longest / 8;
  const bool known = fits && MPI_T_cvar_read(handle, bytes.data()) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return known ? decoded(variable.type, bytes) : json(nullptr);
}

json all_of_interest() {
  json found = json::object();
  int count = 0;
  if (MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return found;
  for (int index = 0; index < count; ++index) {
    Variable variable;
    if (!describe(index, variable) || variable.bound_to != MPI_T_BIND_NO_OBJECT ||
        !of_interest(variable.name))
      continue;
    const json value = variable_value(index, variable);
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (!value.is_null() && !smells_of_a_secret(variable.name, text)) found[variable.name] = value;
  }
  return found;
}

}  // namespace

json mpi_control_variables() {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return json::object();
  json found = all_of_interest();
  MPI_T_finalize();
  return found;
}

namespace {

using nlohmann::json;

int note_object(dl_phdr_info* object, std::size_t, void* list) {
  if (object->dlpi_name && object->dlpi_name[0] == '/')
    static_cast<json*>(list)->push_back(object->dlpi_name);
  return 0;
}

json loaded_libraries() {
  json list = json::array();
  dl_iterate_phdr(note_object, &list);
  return list;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return "multiple";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

json mpi_facts() {
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  return {{"library_version", library_version()},
      {"standard", std::to_string(version) + "." + std::to_string(subversion)},
      {"thread_level", thread_level()}};
}

json build_name() {
  std::error_code unreadable;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  std::ifstream file(program.parent_path() / "build.json");
  const json facts = json::parse(file, nullptr, false);
  return facts.is_object() && facts.contains("name") ? facts.at("name") : json(nullptr);
}

// Of hosts with the same name, such as containers, takes the fewest cores.
json cores_of_hosts(const Binding& binding) {
  json cores = json::object();
  for (std::size_t rank = 0; rank < binding.hosts.size(); ++rank) {
    const std::string& host = binding.hosts[rank];
    cores[host] = std::min(cores.value(host, binding.cores[rank]), binding.cores[rank]);
  }
  return cores;
}

}  // namespace

json launch_facts(const Binding& binding, const Beginning& beginning) {
  return {{"ranks", binding.hosts.size()}, {"mpi", mpi_facts()},
      {"mpi_init_s", beginning.mpi_init_s > 0 ? json(beginning.mpi_init_s) : json(nullptr)},
      {"libraries", loaded_libraries()}, {"binding", binding.cpus}, {"bound_by", binding.by},
      {"hosts", binding.hosts}, {"cores", cores_of_hosts(binding)}, {"cvars", known_variables()},
      {"mpi_cvars", mpi_control_variables()}, {"build", build_name()},
      {"imports", beginning.imports}, {"cold_alltoall", beginning.cold_alltoall}};
}

}  // namespace parhelion::bench
