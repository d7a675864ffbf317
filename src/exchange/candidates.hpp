// Which ways `auto` tries.
#pragma once

#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// Names of transports, and of ways to go in stages, that are tried although `auto` would not, and of those that are left out.
struct AutoList {
    std::vector<std::string> added, left_out;
    bool adds(const std::string& name) const;
    bool leaves_out(const std::string& name) const;
};

/// "+mpi_neighbor,-shared" → AutoList. Throws Error for what has no sign, for names that `known` does not hold, and for one with both signs.
AutoList parse_auto_list(const std::string& text, const std::vector<TransportInfo>& known);

/// The environment variable PARHELION_AUTO; empty where it is not set.
std::string auto_list_text();

/// What a plan asks for. Equal on all ranks.
struct Situation {
    bool near = false, far = false;           ///< some rank has a neighbor on its own node, on another one
    bool thin = false, wide = false;          ///< some neighbor on the own node gets its ghosts in thin, in wide pieces
    bool staged = false, staged_far = false;  ///< worth trying, and allowed by the program
    bool at_once = false;                     ///< the program calls the exchange at once only
    std::vector<bool> refused;                ///< of the transports, in their order: some rank cannot use it
};

struct Candidate {
    std::string name;       ///< as parse_choice takes it
    double handicap = 1;    ///< its times count so many times as much (Traits::handicap, the greatest of its transports)
    int after = -1;         ///< tried only when this candidate, an earlier one, ...
    double within = 0;      ///< ... takes at most so many times what the fastest takes
    bool in_stages = true;  ///< worth trying in stages, too
};

/// All ways that can serve, likely winners first: the later ones are left out the sooner, the faster those before them are. No name
/// means anything here; what a transport can do is told by its TransportInfo. Where no rank has neighbors it is the transport for
/// that. Throws Error when nothing is left.
std::vector<Candidate> candidates(const std::vector<TransportInfo>& all, const Situation& situation, const AutoList& list);

}  // namespace parhelion
