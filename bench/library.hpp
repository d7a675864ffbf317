#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// A transport of the library: "auto", a name, or a hybrid "NEAR+FAR".
struct LibraryVariant {
  std::string transport;
  /// Uses arrays in node-shared memory, as from make_array; else the baselines' arrays.
  bool node_shared = false;
  bool only_by_name = false;
  std::string unavailable = {};
};

/// All variants of this build, from `transports()`. Needs no MPI.
std::vector<LibraryVariant> library_variants();

/// Local. Messages of the plan, and the copies to this rank itself.
Traffic traffic_of(const Plan& plan);

/// Collective. Throws CannotRun, with the reason, on every rank if any cannot use the variant.
void require_usable(const LibraryVariant& which, const Communicator& comm);

/// Collective. A variant over the library's public interface; `fields` view the arrays of `values`.
VariantPointer make_library_variant(const LibraryVariant& which,
    const std::function<Pattern()>& pattern, std::vector<Field> fields,
    std::shared_ptr<Values> values, SetupTimes& times, const Work& work = {},
    bool in_halves = false);

template <class Make>
std::vector<Entry> library_entries(Make make) {
  std::vector<Entry> entries;
  for (const LibraryVariant& which : library_variants())
    entries.push_back(
        {which.transport, "own", [=](SetupTimes& times) { return make(which, times); },
            which.only_by_name, which.unavailable});
  return entries;
}

}  // namespace parhelion::bench
