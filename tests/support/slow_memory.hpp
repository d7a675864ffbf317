// Memory that only its executor can touch, and an executor that makes no copy before somebody asks
// for it.
#pragma once

#include <cstdint>
#include <memory>

#include "parhelion/plan/executor.hpp"

namespace test {

/// `bytes` bytes in two places: where the test writes and looks, and, as arrays of
/// MemorySpace::device, where touching them ends the process.
std::shared_ptr<std::byte> allocate_slow(std::size_t bytes);
/// Where the arrays of this memory are for the library.
std::byte* as_slow(std::byte* place);
/// The same view of arrays in slow memory.
parhelion::Field as_slow(parhelion::Field view);

/// Copies of device memory, and with `host` those of the host's, too, are made by slow executors
/// from now on: when somebody asks whether an event is done, some, in an order that the seed
/// decides within what queues, events and levels leave open.
void register_slow_executors(bool host);
/// The seed of what follows.
void seed_slow_executors(std::uint64_t seed);
/// Copies that were put on queues so far.
std::uint64_t slow_copies();

}  // namespace test
