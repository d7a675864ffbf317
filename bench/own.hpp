#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contender.hpp"
#include "parhelion/exchange/exchange.hpp"

namespace parhelion::bench {

/// One of the library's own ways to exchange: "auto", a transport, or a hybrid "NEAR+FAR".
struct OwnWay {
    std::string transport;
    /// Uses arrays in node-shared memory, as the library's make_array gives them; the others use
    /// the very arrays of the hand-written baselines.
    bool node_shared = false;
    bool only_by_name = false;
    /// Why this build cannot use it here; empty when it can.
    std::string unavailable = {};
};

/// Everything that this build of the library has: new transports appear here by themselves. Needs
/// no MPI.
std::vector<OwnWay> own_ways();

/// What goes to each neighbor, pair by pair, and to this rank itself. Local.
Traffic traffic_of(const Plan& plan);

/// Collective. Throws CannotRun with the reason on every rank where this way does not work here.
void require_usable(const OwnWay& way, const Communicator& comm);

/// A contender that goes through the library's public interface, over `values`, on which `fields`
/// of `pattern` lie.
std::unique_ptr<Contender> make_own(const OwnWay& way, const std::function<Pattern()>& pattern,
                                    std::vector<Field> fields, std::shared_ptr<Values> values,
                                    SetupTimes& times, const Work& work = {});

}  // namespace parhelion::bench
