// Copies on a device of CUDA, by one kernel: a launch for each level of a program.
#pragma once

#include <memory>

#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// For the device that has the array; null: for a rank without arrays, which copies nothing. Local.
/// Throws Error where there is no driver, or the array is not on a device.
std::shared_ptr<Executor> make_device_executor(const std::byte* array);

}  // namespace parhelion
