#include "core/control_groups.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace parhelion {
namespace {

bool names(const std::string& controllers, std::string_view controller) {
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');)
        if (name == controller) return true;
    return controllers.empty();  // version 2
}

}  // namespace

std::vector<std::filesystem::path> control_groups(std::string_view controller,
                                                  const std::filesystem::path& system) {
    std::vector<std::filesystem::path> folders;
    std::ifstream groups(system / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!names(controllers, controller)) continue;
        folders.push_back(system / "sys/fs/cgroup" / controllers);
        const auto own = (std::filesystem::path("/") / line.substr(second + 1)).lexically_normal();
        for (const auto& part : own.relative_path())
            if (!part.empty()) folders.push_back(folders.back() / part);
    }
    return folders;
}

}  // namespace parhelion
