// Random choices, equal on all ranks and reproducible from a printed seed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/cases.hpp"
#include "support/values.hpp"

namespace test {

/// Portable: the results of standard distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return state_ = mix(state_); }
  /// Uniform in [lo, hi].
  int between(int lo, int hi) {
    return lo + static_cast<int>(next() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[next() % from.size()];
  }

 private:
  std::uint64_t state_;
};

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Calls body(random) for PARHELION_TEST_CASES cases from PARHELION_TEST_SEED; failures name the
/// seed.
template <class Body>
void for_random_cases(int cases, Body&& body) {
  const std::uint64_t first = number_from_environment("PARHELION_TEST_SEED", 1);
  const std::uint64_t count =
      number_from_environment("PARHELION_TEST_CASES", static_cast<std::uint64_t>(cases));
  say("seeds ", first, " to ", first + count - 1,
      "; PARHELION_TEST_SEED and PARHELION_TEST_CASES choose others");
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    Random random(mix(seed, static_cast<std::uint64_t>(Communicator(MPI_COMM_WORLD).size())));
    body(random);
  }
}

/// Fewer cases if ranks outnumber cores.
inline int affordable(int cases) {
  return Communicator(MPI_COMM_WORLD).size() <= 2 ? cases : cases / 4;
}

}  // namespace test
