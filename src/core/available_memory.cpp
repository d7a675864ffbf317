#include "core/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace parhelion {
namespace {

constexpr byte_count unlimited = std::numeric_limits<byte_count>::max();

// The number behind a word at the beginning of a line ("MemAvailable: 123 kB"); `otherwise` where there is none.
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

byte_count left_on_node() {
    const byte_count free_kib = value_of("/proc/meminfo", "MemAvailable:", -1);
    return free_kib < 0 ? unlimited : 1024 * (free_kib + value_of("/proc/meminfo", "SwapFree:", 0));
}

// A container sees its own group at the root of the hierarchy. File pages in it are given back when memory is needed.
byte_count left_in_group(const std::string& directory, const char* limit, const char* usage, const char* prefix) {
    const byte_count most = number_in(directory + limit, unlimited);
    if (most == unlimited) return unlimited;
    const std::string stat = directory + "memory.stat", word = prefix;
    const byte_count files = value_of(stat, word + "active_file", 0) + value_of(stat, word + "inactive_file", 0);
    return std::max<byte_count>(0, most - number_in(directory + usage, 0) + files);
}

}  // namespace

byte_count available_memory() {
    return std::min({left_on_node(), left_in_group("/sys/fs/cgroup/", "memory.max", "memory.current", ""),
                     left_in_group("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")});
}

}  // namespace parhelion
