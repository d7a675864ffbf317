#include "core/available_memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/control_groups.hpp"

namespace parhelion {
namespace {

constexpr byte_count unlimited = std::numeric_limits<byte_count>::max();

// Value of a line such as "MemAvailable: 123 kB", else `otherwise`.
byte_count value_of(const std::string& file, const std::string& key, byte_count otherwise) {
    std::ifstream in(file);
    for (std::string word; in >> word; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
        if (byte_count value = 0; word == key && in >> value) return value;
    return otherwise;
}

byte_count number_in(const std::string& file, byte_count otherwise) {
    byte_count value = 0;
    return std::ifstream(file) >> value ? value : otherwise;
}

byte_count left_on_node(const std::filesystem::path& system) {
    const std::string told = system / "proc/meminfo";
    const byte_count free_kib = value_of(told, "MemAvailable:", -1);
    return free_kib < 0 ? unlimited : 1024 * (free_kib + value_of(told, "SwapFree:", 0));
}

struct GroupFiles {
    const char *limit, *usage, *prefix;
};

// The kernel reclaims file pages on demand.
byte_count left_in_group(const std::filesystem::path& group, const GroupFiles& names) {
    const byte_count most = number_in(group / names.limit, unlimited);
    if (most > unlimited / 2) return unlimited;  // "no limit" in version 1; sums would overflow
    const std::string stat = group / "memory.stat", word = names.prefix;
    const byte_count files =
        value_of(stat, word + "active_file", 0) + value_of(stat, word + "inactive_file", 0);
    return std::max<byte_count>(0, most - number_in(group / names.usage, 0) + files);
}

}  // namespace

byte_count available_memory(const std::string& system) {
    byte_count least = left_on_node(system);
    for (const auto& group : control_groups("memory", system))
        for (const GroupFiles& names :
             {GroupFiles{"memory.max", "memory.current", ""},
              GroupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}})
            least = std::min(least, left_in_group(group, names));
    return least;
}

}  // namespace parhelion
