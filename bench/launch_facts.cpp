#include "launch_facts.hpp"

#include <link.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "environment.hpp"

namespace parhelion::bench {

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

// The build puts flavor.json beside this program; an installed program has none.
json flavor_name() {
    std::error_code unreadable;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    std::ifstream file(program.parent_path() / "flavor.json");
    const json facts = json::parse(file, nullptr, false);
    return facts.is_object() && facts.contains("name") ? facts.at("name") : json(nullptr);
}

// Hosts of one name, such as containers, count as the one with the fewest.
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
    return {{"ranks", binding.hosts.size()},
            {"mpi", mpi_facts()},
            {"mpi_init_s", beginning.mpi_init_s > 0 ? json(beginning.mpi_init_s) : json(nullptr)},
            {"libraries", loaded_libraries()},
            {"binding", binding.cpus},
            {"bound_by", binding.by},
            {"hosts", binding.hosts},
            {"cores", cores_of_hosts(binding)},
            {"cvars", known_variables()},
            {"mpi_cvars", mpi_control_variables()},
            {"flavor", flavor_name()},
            {"imports", beginning.imports},
            {"cold_alltoall", beginning.cold_alltoall}};
}

}  // namespace parhelion::bench
