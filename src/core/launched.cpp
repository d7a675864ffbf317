#include "core/launched.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/concat.hpp"
#include "core/environment.hpp"

namespace parhelion {
namespace {

namespace fs = std::filesystem;

struct Names {
  const char *kind, *rank, *size;
};

// Order matters: Open MPI sets PMIX_RANK too, and srun may set PMI_RANK.
constexpr Names launchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"pals", "PALS_RANKID", "PALS_SIZE"},
    {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
    {"hydra", "PMI_RANK", "PMI_SIZE"},
    {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"pmix", "PMIX_RANK", "PMIX_SIZE"},
};

std::optional<int> number(const char* variable) {
  const char* text = std::getenv(variable);
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : -1;
  if (!text || end == text || *end || value < 0) return std::nullopt;
  return static_cast<int>(value);
}

bool has_terminal() {
  const int terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

// Excludes batch scripts, which set SLURM_PROCID, and `srun --pty` shells, whose steps inherit
// SLURM_PTY_PORT but no terminal.
bool is_slurm_step() {
  return (std::getenv("SLURM_STEP_ID") || std::getenv("SLURM_STEPID")) &&
         std::getenv("SLURM_STEP_NUM_TASKS") && !(std::getenv("SLURM_PTY_PORT") && has_terminal());
}

struct Launched {
  std::string kind;
  int rank, size;
};

// Whether srun numbered the ranks, not a launcher that it started on each node.
bool by_srun(const Launched& told) {
  return is_slurm_step() && number("SLURM_PROCID") == told.rank &&
         number("SLURM_STEP_NUM_TASKS") == told.size;
}

// For any MPI, since the linked one is unknown.
constexpr int longest_version = std::max<int>(MPI_MAX_LIBRARY_VERSION_STRING, 8192);

std::string library_version(decltype(&MPI_Get_library_version) ask = &MPI_Get_library_version) {
  char text[longest_version] = "";
  int length = 0;
  if (ask != nullptr) ask(text, &length);
  return text;
}

// The first line up to the first comma, with single spaces.
std::string name_of(const std::string& version) {
  std::string name;
  for (const char each : version.substr(0, version.find_first_of(",\n"))) {
    const char next = each == '\t' ? ' ' : each;
    if (next != ' ' || (!name.empty() && name.back() != ' ')) name += next;
  }
  return name.empty() ? "its MPI" : name;
}

bool is_open_mpi(const std::string& version) { return version.starts_with("Open MPI"); }

#define PARHELION_TEXT(value) PARHELION_QUOTED(value)
#define PARHELION_QUOTED(value) #value
#if defined(OMPI_MAJOR_VERSION)
constexpr const char* built_for =
    "Open MPI " PARHELION_TEXT(OMPI_MAJOR_VERSION) "." PARHELION_TEXT(OMPI_MINOR_VERSION);
#elif defined(MPICH_VERSION)
constexpr const char* built_for = "MPICH " MPICH_VERSION;
#else
constexpr const char* built_for = "";
#endif

// The library behind `use mpi`, which may differ from that of the C functions.
std::string fortran_library_version() {
  Dl_info place{};
  void* const start = dlsym(RTLD_DEFAULT, "mpi_init_");
  if (start == nullptr || dladdr(start, &place) == 0) return {};
  void* const library = dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return {};
  return library_version(reinterpret_cast<decltype(&MPI_Get_library_version)>(
      dlsym(library, "MPI_Get_library_version")));
}

// Members of a family share an ABI. 0: unknown.
int family_of(const std::string& version) {
  if (is_open_mpi(version) || version.starts_with("IBM Spectrum")) return 1;
  for (const char* name : {"MPICH", "MVAPICH", "Intel(R) MPI"})
    if (version.find(name) != version.npos) return 2;
  return 0;
}

// Why an MPI of a different family from this library's cannot be used, else empty.
std::string why_not_other_mpi() {
  const int own = family_of(built_for);
  for (const std::string& version : {library_version(), fortran_library_version()})
    if (const int family = family_of(version); own != 0 && family != 0 && family != own)
      return "this program was linked with " + name_of(version) +
             ", and the Parhelion that it uses was built for " + built_for +
             ": compile and link it with the mpicc, mpicxx or mpifort of " + built_for +
             ", or install Parhelion for the program's MPI (make install "
             "MPI=/path/of/its/mpicxx)";
  return {};
}

fs::path mpi_library() {
  Dl_info place{};
  if (!dladdr(reinterpret_cast<void*>(&PMPI_Init), &place) || !place.dli_fname) return {};
  return place.dli_fname;
}

// Debian's MPIs share a folder; their launchers differ by suffix.
std::string mpiexec_of(const std::string& version) {
  const std::string own = is_open_mpi(version) ? "mpiexec.openmpi" : "mpiexec.mpich";
  std::error_code none;
  const fs::path folder = fs::weakly_canonical(mpi_library().parent_path(),
      none);  // /lib may link to /usr/lib
  for (const fs::path& prefix : {folder.parent_path(), folder.parent_path().parent_path()})
    for (const std::string& program : {own, std::string("mpiexec")})
      if (fs::path found = prefix / "bin" / program; !folder.empty() && fs::exists(found, none))
        return found;
  return "the mpiexec of " + name_of(version);
}

// Quotes words where needed.
std::string own_command() {
  constexpr std::size_t longest = 400;
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(stream), {}};
  std::string line;
  for (std::size_t at = 0; at < words.size(); at += std::strlen(&words[at]) + 1) {
    const std::string word = &words[at];
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"'\\$&|;<>()*?[]#~`") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line.empty() || line.size() > longest ? "PROGRAM" : line;
}

bool has_pmix_of_its_own() {
  const auto is_pmix = [](dl_phdr_info* info, std::size_t, void*) -> int {
    return std::strstr(info->dlpi_name, "libpmix") != nullptr;
  };
  return dl_iterate_phdr(is_pmix, nullptr) != 0;
}

bool is_rank_0() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const auto rank = number(variable)) return *rank == 0;
  return true;
}

std::optional<Launched> launched() {
  for (const auto& [kind, rank, size] : launchers) {
    if (std::strcmp(kind, "slurm") == 0 && !is_slurm_step()) continue;
    if (const auto own = number(rank), all = number(size); own && all)
      return Launched{kind, *own, *all};
  }
  return std::nullopt;
}

std::optional<Launched> one_of_several() {
  auto told = launched();
  if (told && (told->size < 2 || is_on("PARHELION_ALONE"))) told.reset();
  return told;
}

std::string right_start(const Launched& told, const std::string& version) {
  const std::string rest = concat(" -n ", told.size, " ", own_command());
  // Intel's mpiexec works under Slurm; srun would need the path of Slurm's PMI library.
  if (version.starts_with("Intel") || !by_srun(told)) return mpiexec_of(version) + rest;
  return (is_open_mpi(version) ? "srun --mpi=pmix" : "srun --mpi=pmi2") + rest;
}

// Why MPI cannot start under this launcher, empty if unknown. Call before MPI_Init.
std::string why_mpi_will_not_start() {
  const auto told = one_of_several();
  if (!told) return {};
  const std::string version = library_version();
  const bool pmix = std::getenv("PMIX_RANK"),
             pmi = std::getenv("PMI_RANK") || std::getenv("PMI_FD");
  const bool refuses_pmix = version.starts_with("MPICH") && pmix && !pmi && !has_pmix_of_its_own();
  const bool needs_pmix = is_open_mpi(version) && by_srun(*told) && !pmix;
  if (!refuses_pmix && !needs_pmix) return {};
  const std::string other = why_not_other_mpi();
  if (!other.empty()) return other;
  return name_of(version) +
         (refuses_pmix ? " does not support PMIx, the only interface of this launcher"
                       : " needs PMIx, which this srun does not offer") +
         ": start the ranks with  " + right_start(*told, version);
}

// Warns before MPI_Init, which prints only MPI's own message and does not return.
[[gnu::constructor]] void tell_before_mpi_starts() {
  const std::string why = is_rank_0() ? why_mpi_will_not_start() : "";
  if (why.empty()) return;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) std::fprintf(stderr, "parhelion: %s\n", why.c_str());
}

}  // namespace

void require_all_ranks(MPI_Comm user) {
  int size = 0;
  check_mpi(MPI_Comm_size(user, &size), "MPI_Comm_size");
  if (size > 1) return;
  const auto told = one_of_several();
  if (!told) return;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  if (size > 1) return;
  const std::string version = library_version();
  throw Error(
      concat("this process was started as rank ", told->rank, " of ", told->size, ", but ",
          name_of(version),
          " sees 1 rank, so each process would compute the whole problem: start them with  ",
          right_start(*told, version),
          "  (or set PARHELION_ALONE=1 where each is meant to work alone)"),
      ErrorKind::communication);
}

void require_own_mpi() {
  static const std::string why = why_not_other_mpi();
  if (!why.empty()) throw Error(why, ErrorKind::communication);
}

}  // namespace parhelion
