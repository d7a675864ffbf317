// Slow memory, which only its executor can touch; the executor copies only when queried.
#pragma once

#include <cstdint>
#include <memory>

#include "parhelion/plan/executor.hpp"

namespace test {

// Functions of the test driver (tests/device/against_us.cpp).
#define PARHELION_AGAINST_US(X) \
  X(int, make_current, against_us_make_current, ()) \
  X(int, pop_context, cuCtxPopCurrent_v2, (void**)) \
  X(int, allocate, against_us_allocate, (unsigned long long*, std::size_t)) \
  X(int, free, cuMemFree_v2, (unsigned long long)) \
  X(int, create_stream, cuStreamCreate, (void**, unsigned)) \
  X(int, destroy_stream, cuStreamDestroy_v2, (void*)) \
  X(int, synchronize_stream, cuStreamSynchronize, (void*)) \
  X(int, synchronize, cuCtxSynchronize, ()) \
  X(int, copy, cuMemcpyDtoDAsync_v2, (unsigned long long, unsigned long long, std::size_t, void*)) \
  X(std::byte*, seen, against_us_seen, (std::byte*)) \
  X(void, set_seed, against_us_seed, (std::uint64_t)) \
  X(std::size_t, contexts, against_us_contexts, ()) \
  X(void, fail, against_us_fail, (long long)) \
  X(long long, left, against_us_left, ()) \
  X(const char*, failed, against_us_failed, ()) \
  X(void, exhaust, against_us_exhaust, (long long)) \
  X(bool, is_exhausted, against_us_is_exhausted, ()) \
  X(std::size_t, alive, against_us_alive, ()) \
  X(void, forgive, against_us_forgive, (std::size_t)) \
  X(void, choose, against_us_choose, (int)) \
  X(void, capture, against_us_capture, (void*, int)) \
  X(std::uint64_t, launches, against_us_launches, ()) \
  X(std::size_t, events, against_us_events, ()) \
  X(bool, has_pools, against_us_has_pools, ()) \
  X(void, set_pools, against_us_set_pools, (int)) \
  X(std::size_t, modules, against_us_modules, ()) \
  X(std::size_t, reachable, against_us_reachable, ()) \
  X(std::size_t, uploaded, against_us_uploaded, ()) \
  X(int, last_error, against_us_last_error, ())

/// The driver that PARHELION_TEST_DRIVER (tests/device/machine.cpp, against_us_hip.cpp) or
/// PARHELION_CUDA names; false: none.
struct DriverAgainstUs {
  DriverAgainstUs();
#define PARHELION_DECLARE(type, name, symbol, parameters) type(*name) parameters = nullptr;
  PARHELION_AGAINST_US(PARHELION_DECLARE)
#undef PARHELION_DECLARE
  explicit operator bool() const { return allocate != nullptr; }
};
const DriverAgainstUs& driver_against_us();

/// `bytes` bytes with two mappings: one for the test, and one in MemorySpace::device, where access
/// by the host crashes.
std::shared_ptr<std::byte> allocate_slow(std::size_t bytes);
/// The library's address of a byte.
std::byte* as_slow(std::byte* place);
parhelion::Field as_slow(parhelion::Field view);

/// Uses slow executors for device memory, and with `host` for host memory. They copy only when an
/// event is queried, in a random order within the constraints of queues, events and levels.
void register_slow_executors(bool host);
/// Sets the seed of later orders.
void seed_slow_executors(std::uint64_t seed);
/// Number of copies enqueued so far.
std::uint64_t slow_copies();

}  // namespace test
