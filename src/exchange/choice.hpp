// Which transport serves which neighbor, and in how many stages.
#pragma once

#include <string>
#include <vector>

#include "exchange/staging.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// What to use for neighbors on the own node, for those among them whose ghosts lie in thin pieces, and for all others.
struct Choice {
    const TransportInfo* near = nullptr;
    const TransportInfo* thin = nullptr;
    const TransportInfo* far = nullptr;
    Staging staging = Staging::none;  ///< of the forward direction

    /// "far", "near+far" or "near|thin+far", with its stages before it: "staged:near+far".
    std::string name() const;
    /// The different transports in it.
    std::vector<const TransportInfo*> used() const;
    /// Whether it matters which ranks share a node.
    bool splits() const { return near != far || thin != far || far->scope == Scope::same_node; }
    const TransportInfo& for_link(const LinkPlan& link, bool on_node) const { return !on_node ? *far : link.thin ? *thin : *near; }
};

/// A name → Choice. Throws Error for unknown names and for transports that do not work or do
/// not reach far.
Choice parse_choice(const std::string& name);

/// The options' name, else the environment's, else "auto".
std::string requested_transport(const std::string& from_options);

}  // namespace parhelion
