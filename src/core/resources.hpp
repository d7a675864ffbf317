// python/parhelion/launch/cores.py counts cores the same way.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// One bit per hardware thread, in the kernel's number of words: equal on all ranks of a node.
using CpuMask = std::vector<std::uint64_t>;

/// Threads that this process may run on. Local; throws Error when the system refuses.
CpuMask usable_threads();

/// The first thread of each core before the second of any: processes up to the number of cores
/// share none. Local.
std::vector<int> core_by_core(const CpuMask& threads, const std::string& system = "/");

/// Processes that can run on `threads` at once: one each, at most the control groups' CPU quota, at
/// least 1. `system`: root of /proc and /sys. Local.
int processes_at_once(const CpuMask& threads, const std::string& system = "/");

/// The same with one process per core. Local.
int cores_at_once(const CpuMask& threads, const std::string& system = "/");

/// Bytes that this process can allocate before the node or a control group (version 1 or 2) around
/// it runs out; huge without limits. An estimate: others allocate too. `system`: as above. Local.
byte_count available_memory(const std::string& system = "/");

}  // namespace parhelion
