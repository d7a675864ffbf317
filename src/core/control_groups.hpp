// Control groups of this process.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace parhelion {

/// Folders of this process's group and its ancestors for `controller` ("cpu", "memory"), versions 1
/// and 2. In a container, the own group is often the root. `system`: root of /proc and /sys. Local.
std::vector<std::filesystem::path> control_groups(std::string_view controller,
                                                  const std::filesystem::path& system);

}  // namespace parhelion
