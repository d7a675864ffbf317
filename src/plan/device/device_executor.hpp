// Copies on a CUDA device: one kernel, launched per level of a program.
#pragma once

#include <memory>

#include "parhelion/plan/executor.hpp"

namespace parhelion {

/// Executor for the device of `array`; null on a rank without arrays, which copies nothing. Local.
/// Throws Error if there is no driver, or the array is not on a device.
std::shared_ptr<Executor> make_device_executor(const std::byte* array);

/// Compiles the program. On a device, it uses the lists of compiled programs whose ops it repeats,
/// and which outlive it.
void compile_repeating(
    Executor& executor, Program& program, const std::vector<const void*>& repeated);
/// Message memory on the executor's device. Throws Error.
std::shared_ptr<std::byte> allocate_on_device(Executor& executor, byte_count bytes);

}  // namespace parhelion
