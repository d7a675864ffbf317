#include "energy.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "parhelion/core/collective.hpp"

namespace parhelion::bench {

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

std::string folder() {
  const char* named = std::getenv("PARHELION_POWERCAP");
  return named ? named : "/sys/class/powercap";
}

// Nodes that are parts of one machine, such as containers, have the same counters.
bool first_on_machine(const Communicator& comm) {
  std::string boot;
  if (!(std::ifstream("/proc/sys/kernel/random/boot_id") >> boot)) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    boot.assign(name, static_cast<std::size_t>(length));
  }
  const std::uint64_t mine = std::hash<std::string>{}(boot);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm.handle());
  return std::find(all.begin(), all.end(), mine) - all.begin() == comm.rank();
}

}  // namespace

Energy::Energy(const Communicator& comm) {
  std::string complaint;
  if (first_on_machine(comm)) {
    std::error_code none;
    for (const auto& zone : fs::directory_iterator(folder(), none)) {
      std::string name;
      std::ifstream(zone.path() / "name") >> name;
      // intel-rapl-mmio: counts the same packages again.
      if (!name.starts_with("package") ||
          zone.path().filename().string().starts_with("intel-rapl-mmio"))
        continue;
      const std::string counter = zone.path() / "energy_uj";
      const auto now = number_in(counter);
      if (!now) complaint = counter + " may not be read";
      else
        packages_.push_back(
            {counter, *now, number_in(zone.path() / "max_energy_range_uj").value_or(0)});
    }
    if (packages_.empty() && complaint.empty())
      complaint = folder() + " has no counters of RAPL for processor packages";
  }
  try {
    agree(comm, {!complaint.empty(), complaint});
  } catch (const Error& error) {
    why_not_ = error.what();
    packages_.clear();
  }
}

double Energy::used() {
  for (Package& package : packages_) {
    const std::uint64_t now = number_in(package.counter).value_or(package.last);
    // The counter wraps around within minutes.
    const std::uint64_t around = now < package.last ? package.range : 0;
    joules_ += static_cast<double>(now + around - package.last) * 1e-6;
    package.last = now;
  }
  return joules_;
}

}  // namespace parhelion::bench
