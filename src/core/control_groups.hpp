// The control groups that this process is in.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace parhelion {

/// Folders of the process's own group and of all above it that `controller` ("cpu", "memory") may
/// limit, of version 2 and of version 1. A container often sees its own group as the uppermost one.
/// `system` is where /proc and /sys are. Local.
std::vector<std::filesystem::path> control_groups(std::string_view controller,
                                                  const std::filesystem::path& system);

}  // namespace parhelion
