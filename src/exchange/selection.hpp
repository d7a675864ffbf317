// Which transport serves which neighbor: asked for by name, or found by trial exchanges.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/transport/transport.hpp"
#include "plan/staged_plan.hpp"

namespace parhelion {

struct ExchangeOptions;

class Stages;

/// What is used for neighbors on the own node, for those among them whose ghosts lie in small
/// pieces, and for all others; and in which order.
struct Choice {
    const TransportInfo* near = nullptr;
    const TransportInfo* small = nullptr;
    const TransportInfo* far = nullptr;
    Sequence sequence = Sequence::direct;

    friend bool operator==(const Choice&, const Choice&) = default;
    /// As parse_choice takes it: "FAR", "NEAR+FAR" or "NEAR|SMALL+FAR", after "by_dimension:" or
    /// "far_by_dimension:" where it goes so.
    std::string name() const;
    std::vector<const TransportInfo*> used() const;
    double handicap() const;
    /// Whether it matters which ranks share a node.
    bool splits() const {
        return near != far || small != far || far->scope == Scope::same_node ||
               far->traits.passes_on;
    }
    const TransportInfo& for_link(const LinkPlan& link, bool on_node) const {
        return !on_node ? *far : inside(link.small ? *small : *near);
    }
    /// Transports that collect for other nodes leave the own one to staged_shared.
    static const TransportInfo& inside(const TransportInfo& asked);
};

/// Throws Error for unknown names and for transports that do not work or do not reach far.
Choice parse_choice(const std::string& name);

/// The options' name, else the environment's, else "auto".
std::string requested_transport(const std::string& from_options);
/// Throws Error as parse_choice does, for what makes its exchanges at its first calls.
void require_transport(const ExchangeOptions& options);

/// The environment variable PARHELION_AUTO: a transport's name → whether it is tried though `auto`
/// would not (+), or left out (-); also a sequence's, with a minus.
using AutoList = std::map<std::string, bool>;
std::string auto_list_text();
/// Throws Error for what has no sign, for names that `known` does not hold, and for one with both
/// signs.
AutoList parse_auto_list(const std::string& text, const std::vector<const TransportInfo*>& known);

/// How an exchange will be used. Equal on all ranks.
struct Use {
    bool overlap = false;  ///< begun and ended around work; else called at once
    bool at_once = false;  ///< never begun
    /// Seconds of work: between begin and end, or before each call. With overlap, 0: as long as an
    /// exchange takes, at most 200 µs.
    double work_s = 0;
};

/// What decides who takes part; equal on all ranks when they have agreed on it.
struct Situation {
    bool near = false, far = false;  ///< some rank has a neighbor on its own node, on another one
    bool small = false,
         large = false;    ///< some neighbor on the own node gets ghosts in small, in large pieces
    bool at_once = false;  ///< the program calls the exchange at once only
    bool threads = false;  ///< several threads of some rank may call MPI
    bool by_dimension = false, far_by_dimension = false;  ///< would save messages
    std::vector<bool> refused = {};  ///< of the transports, in their order: some rank cannot use it
};

struct Candidate {
    Choice choice;
    int after = -1;      ///< tried only when this candidate, an earlier one, ...
    double within = 0;   ///< ... takes at most so many times what the fastest takes
    double least_s = 0;  ///< tried only when the fastest takes at least so long
};

/// Whatever can serve, likely winners first: the later ones are left out the sooner, the faster
/// those before them are.
std::vector<Candidate> candidates(const std::vector<const TransportInfo*>& all,
                                  const Situation& situation, const AutoList& list);

/// Exchanges of one candidate: `warming` ones that do not count, then `samples` of `each`
/// exchanges.
struct Turn {
    int candidate = 0, warming = 0, samples = 1, each = 1;
};

/// Where the race is run. What it tells is equal on all ranks, so that all of them decide alike.
class Track {
public:
    virtual ~Track() = default;
    /// Sets the candidate up. Empty, or why it cannot be.
    virtual std::string make(int candidate) = 0;
    /// One after the other. Of each turn the seconds per exchange: the median of its samples.
    virtual std::vector<double> take(const std::vector<Turn>& turns) = 0;
    virtual double elapsed() const = 0;
};

/// The lower of the two in the middle of an even number.
double median(std::vector<double> values);

struct Standing {
    static constexpr double unknown = 1e300;
    std::string refusal = {};         ///< why it could not be made
    bool made = false;                ///< false: refused, or not tried
    double early = unknown;           ///< the best of its first turns: seconds per exchange
    std::vector<double> rounds = {};  ///< a turn in each

    /// What counts: the median of the rounds, of those that came into them.
    double seconds() const { return rounds.empty() ? early : median(rounds); }
};

struct RaceResult {
    int winner = -1;  ///< −1: none could be made
    std::vector<Standing> standings;
};

/// A function of times. Every candidate is tried for some exchanges, as long as they get faster.
/// Those near the fastest meet in short rounds until one stands out or some 40 exchanges of the
/// fastest are used up. The median of a candidate's rounds decides, times its handicap.
RaceResult run_race(const std::vector<Candidate>& candidates, Track& track);

struct Selected {
    Choice choice;
    std::unique_ptr<Stages> stages;  ///< its forward direction
    std::string reason;              ///< for people
};

/// Collective. Errors: a sequence that saves nothing; what the transport throws.
Selected select_by_name(const Plan& plan, const BoundArrays& arrays, const Choice& choice);

/// Collective. Of plans on one communicator that have the same neighbors and send about as much one
/// is raced; with `anew` each. Ghosts keep their values, also after an error. Errors:
/// PARHELION_AUTO, equal on all ranks, leaves nothing; no transport reaches the arrays' memory;
/// what a trial exchange throws.
Selected select(const Plan& plan, const BoundArrays& arrays, const Use& use, bool anew = false);

}  // namespace parhelion
