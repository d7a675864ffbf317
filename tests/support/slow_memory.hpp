// Memory that only its executor can touch, and an executor that makes no copy before somebody asks
// for it.
#pragma once

#include <cstdint>
#include <memory>

#include "parhelion/plan/executor.hpp"

namespace test {

// Calls of the driver that is against us (tests/device/against_us.cpp), and what it tells tests.
#define PARHELION_AGAINST_US(X)                                               \
    X(int, make_current, against_us_make_current, ())                         \
    X(int, pop_context, cuCtxPopCurrent_v2, (void**))                         \
    X(int, allocate, against_us_allocate, (unsigned long long*, std::size_t)) \
    X(int, free, cuMemFree_v2, (unsigned long long))                          \
    X(int, create_stream, cuStreamCreate, (void**, unsigned))                 \
    X(int, destroy_stream, cuStreamDestroy_v2, (void*))                       \
    X(int, synchronize_stream, cuStreamSynchronize, (void*))                  \
    X(int, copy, cuMemcpyDtoDAsync_v2,                                        \
      (unsigned long long, unsigned long long, std::size_t, void*))           \
    X(std::byte*, seen, against_us_seen, (std::byte*))                        \
    X(void, set_seed, against_us_seed, (std::uint64_t))                       \
    X(std::size_t, contexts, against_us_contexts, ())                         \
    X(void, fail, against_us_fail, (long long))                               \
    X(long long, left, against_us_left, ())                                   \
    X(void, capture, against_us_capture, (void*, int))                        \
    X(std::uint64_t, launches, against_us_launches, ())                       \
    X(bool, has_pools, against_us_has_pools, ())                              \
    X(void, set_pools, against_us_set_pools, (int))

/// The driver that PARHELION_TEST_DRIVER names (tests/device/machine.cpp), or PARHELION_CUDA;
/// false: none.
struct DriverAgainstUs {
    DriverAgainstUs();
#define PARHELION_DECLARE(type, name, symbol, parameters) type(*name) parameters = nullptr;
    PARHELION_AGAINST_US(PARHELION_DECLARE)
#undef PARHELION_DECLARE
    explicit operator bool() const { return allocate != nullptr; }
};
const DriverAgainstUs& driver_against_us();

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
