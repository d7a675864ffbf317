// Hardware threads and memory that this process may use. The command line counts cores the same
// way: python/parhelion/launch/cores.py.
#pragma once

#include <string>
#include <vector>

#include "parhelion/core/types.hpp"

namespace parhelion {

/// One bit per hardware thread, in as many words as the kernel uses: equal for all ranks of a node.
using CpuMask = std::vector<std::uint64_t>;

/// The hardware threads that this process may run on. Local; throws Error when the system refuses.
CpuMask usable_threads();

/// The threads of a mask, the first of each core before the second of any, so that as many
/// processes as cores share none. Local.
std::vector<int> core_by_core(const CpuMask& threads, const std::string& system = "/");

/// Number of processes that can run on `threads` at the same time: one each, limited by the CPU
/// quota of the control groups. At least 1. `system`: root of /proc and /sys. Local.
int processes_at_once(const CpuMask& threads, const std::string& system = "/");

/// The same with one process per core instead of per hardware thread. At least 1. Local.
int cores_at_once(const CpuMask& threads, const std::string& system = "/");

/// Bytes that this process can allocate before the node or a control group (version 1 or 2) around
/// it runs out; a huge number when neither has a limit. An estimate: other processes allocate too.
/// `system`: root of /proc and /sys. Local.
byte_count available_memory(const std::string& system = "/");

}  // namespace parhelion
