// Selects transports by name, or by trial exchanges (`auto`).
#pragma once

#include <map>

#include "parhelion/transport/transport.hpp"
#include "plan/sequence.hpp"

namespace parhelion {

struct ExchangeOptions;

class Stages;

/// Transports for neighbors on this node (near), those with small pieces (small) and others (far).
struct Choice {
  const TransportInfo* near = nullptr;
  const TransportInfo* small = nullptr;
  const TransportInfo* far = nullptr;
  Sequence sequence = Sequence::direct;

  friend bool operator==(const Choice&, const Choice&) = default;
  /// "FAR", "NEAR+FAR" or "NEAR|SMALL+FAR", after "by_dimension:" or "far_by_dimension:" if so.
  std::string name() const;
  std::vector<const TransportInfo*> used() const;
  double handicap() const;
  /// Whether it matters which ranks share a node.
  bool splits() const {
    return near != far || small != far || far->scope == Scope::same_node || far->traits.passes_on;
  }
  const TransportInfo& for_link(const LinkPlan& link, bool on_node) const {
    return !on_node ? *far : inside(link.small ? *small : *near);
  }
  /// Inside the node, staged_shared replaces transports that collect messages for other nodes.
  static const TransportInfo& inside(const TransportInfo& asked);
};

/// Throws Error for unknown names, unavailable transports, and a far one that does not reach other
/// nodes.
Choice parse_choice(const std::string& name);

std::string requested_transport(const std::string& from_options);
/// Like parse_choice; an empty choice for `auto`.
Choice require_transport(const ExchangeOptions& options);
/// Throws Error if the transport does not reach the rank.
void require_reach(const TransportInfo& info, int rank, bool on_node);
/// Throws as both do; for objects that make exchanges with these ranks at their first calls.
void require_transport(
    const ExchangeOptions& options, const Communicator& comm, const std::vector<int>& ranks);

/// PARHELION_AUTO: whether a transport is added to `auto` (+) or left out (-). Sequences can only
/// be left out.
using AutoList = std::map<std::string, bool>;
/// Throws Error for a missing sign and a name not in `known` or with both signs.
AutoList parse_auto_list(const std::string& text, const std::vector<const TransportInfo*>& known);

/// Determines the candidates; equal on all ranks after a reduction.
struct Situation {
  bool near = false, far = false;  ///< some rank has a neighbor on its own / another node
  bool small = false,
       large = false;    ///< some rank gets small / large pieces from its node
  bool at_once = false;  ///< the program never uses begin
  bool threads = false;  ///< several threads of some rank may call MPI
  bool by_dimension = false, far_by_dimension = false;  ///< the sequence would save messages
  std::vector<bool> refused = {};                       ///< by transport: some rank cannot use it
};

struct Candidate {
  Choice choice;
  int after = -1;      ///< try only when this earlier candidate, ...
  double within = 0;   ///< ... takes at most this factor times the fastest
  double least_s = 0;  ///< try only when the fastest takes at least this
};

/// Usable candidates, likely winners first: fast early ones exclude later ones.
std::vector<Candidate> candidates(
    const std::vector<const TransportInfo*>& all, const Situation& situation, const AutoList& list);

/// `warming` untimed exchanges, then `samples` samples of `each` exchanges.
struct Turn {
  int candidate = 0, warming = 0, samples = 1, each = 1;
};

/// Runs a race's trials. Results are equal on all ranks: all decide alike.
class Track {
 public:
  virtual ~Track() = default;
  /// Returns why the candidate is refused, or "".
  virtual std::string make(int candidate) = 0;
  /// Runs the turns in order. Returns each one's median sample, in seconds per exchange.
  virtual std::vector<double> take(const std::vector<Turn>& turns) = 0;
  virtual double elapsed() const = 0;
};

/// The lower median.
double median(std::vector<double> values);

struct Standing {
  static constexpr double unknown = 1e300;
  std::string refusal = {};
  bool made = false;
  double early = unknown;           ///< best of its first turns, in seconds per exchange
  std::vector<double> rounds = {};  ///< one turn each

  double seconds() const { return rounds.empty() ? early : median(rounds); }
};

struct RaceResult {
  int winner = -1;  ///< −1: all were refused
  std::vector<Standing> standings;
};

/// Tries each candidate while its exchanges get faster. Those near the fastest enter short rounds
/// until one stands out or the budget is spent. The lowest median, times the handicap, wins.
RaceResult run_race(const std::vector<Candidate>& candidates, Track& track);

struct Selected {
  Choice choice;
  std::unique_ptr<Stages> stages;  ///< forward direction only
  std::string reason;
};

/// Collective. Throws Error for a sequence that saves no messages, and what the transport throws.
Selected select_by_name(const Plan& plan, const BoundArrays& arrays, const Choice& choice);

/// Collective. Races the candidates or, unless `anew`, reuses a similar plan's result on this
/// communicator. Trials follow the options' overlap, at_once and work_s. Preserves ghosts, also on
/// errors. Throws Error when PARHELION_AUTO (equal on all ranks) or the arrays' memory excludes all
/// candidates, and as trials do.
Selected select(
    const Plan& plan, const BoundArrays& arrays, const ExchangeOptions& options, bool anew = false);

}  // namespace parhelion
