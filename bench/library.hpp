#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/exchange/exchange.hpp"
#include "variant.hpp"

namespace parhelion::bench {

/// One of the library's methods to exchange: "auto", a transport, or a hybrid "NEAR+FAR".
struct LibraryVariant {
    std::string transport;
    /// Uses arrays in node-shared memory, as the library's make_array gives them; the others use
    /// the very arrays of the hand-written baselines.
    bool node_shared = false;
    bool only_by_name = false;
    std::string unavailable = {};
};

/// Everything that this build of the library has: new transports appear here by themselves. Needs
/// no MPI.
std::vector<LibraryVariant> library_variants();

/// What goes to each neighbor, pair by pair, and to this rank itself. Local.
Traffic traffic_of(const Plan& plan);

/// Collective. Throws CannotRun with the reason on every rank where it does not work.
void require_usable(const LibraryVariant& which, const Communicator& comm);

/// Collective. A variant that goes through the library's public interface, over `values`, on which
/// `fields` of `pattern` lie.
VariantPointer make_library_variant(const LibraryVariant& which,
                                    const std::function<Pattern()>& pattern,
                                    std::vector<Field> fields, std::shared_ptr<Values> values,
                                    SetupTimes& times, const Work& work = {},
                                    bool in_halves = false);

template <class Make>
std::vector<Entry> library_entries(Make make) {
    std::vector<Entry> entries;
    for (const LibraryVariant& which : library_variants())
        entries.push_back({which.transport, "own",
                           [=](SetupTimes& times) { return make(which, times); },
                           which.only_by_name, which.unavailable});
    return entries;
}

}  // namespace parhelion::bench
