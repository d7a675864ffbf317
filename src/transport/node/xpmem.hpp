// XPMEM: a kernel module and a library by which a process maps another one's ordinary memory.
//
// The library is loaded when it is first asked for, so that one build runs with and without it:
// libxpmem.so.0, or what the environment variable PARHELION_XPMEM names ("none": none).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace parhelion {

/// Empty where XPMEM's library and device are there, else what is missing. Local; looked for once.
/// Shares nothing yet.
std::string xpmem_unavailable();

/// A number by which other processes of the same user get at all memory of this one: from the first
/// call on, until the process ends. Throws Error when XPMEM does not work.
std::int64_t xpmem_segment();

/// Maps `bytes` bytes from `address` on in the process with that segment, until the last copy of
/// the pointer goes. Throws Error when it is refused.
std::shared_ptr<std::byte> xpmem_map(std::int64_t segment, std::uintptr_t address,
                                     std::size_t bytes);

}  // namespace parhelion
