// `auto`: candidates, trial exchanges, and a cache of results for similar plans.
#include "exchange/selection.hpp"

#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "core/collective_step.hpp"
#include "core/concat.hpp"
#include "core/environment.hpp"
#include "exchange/stages.hpp"
#include "parhelion/core/hash.hpp"
#include "parhelion/core/mpi_lifetime.hpp"
#include "parhelion/exchange/exchange.hpp"
#include "plan/packed_cells.hpp"
#include "transport/factories.hpp"
#include "transport/node/node_context.hpp"

namespace parhelion {
namespace {

// Removes the prefix before the colon.
Sequence take_sequence(std::string& name) {
  const auto colon = name.find(':');
  if (colon == std::string::npos) return Sequence::direct;
  const std::string word = name.substr(0, colon);
  name.erase(0, colon + 1);
  for (const Sequence each : {Sequence::by_dimension, Sequence::far_by_dimension})
    if (word == name_of(each)) return each;
  throw Error("'" + word +
              ":' is not known before a transport: use by_dimension:, far_by_dimension:, or the "
              "transport alone");
}

}  // namespace

std::string Choice::name() const {
  std::string text = sequence == Sequence::direct ? "" : std::string(name_of(sequence)) + ":";
  text += near->name;
  if (small != near) text += "|" + small->name;
  if (far != near) text += "+" + far->name;
  return text;
}

Choice parse_choice(const std::string& name) {
  std::string transports = name;
  const Sequence sequence = take_sequence(transports);
  const auto plus = transports.find('+');
  const std::string node = transports.substr(0, plus);
  const auto bar = node.find('|');
  const TransportInfo& near = find_transport(node.substr(0, bar));
  const TransportInfo& small =
      bar == std::string::npos ? near : find_transport(node.substr(bar + 1));
  const TransportInfo& far =
      plus == std::string::npos ? near : find_transport(transports.substr(plus + 1));
  if (plus != std::string::npos && far.scope != Scope::anywhere)
    throw Error("transport " + far.name +
                " does not reach other nodes: name one that does behind the +, as in " + near.name +
                "+mpi");
  return {&near, &small, &far, sequence};
}

const TransportInfo& Choice::inside(const TransportInfo& asked) {
  return asked.traits.passes_on ? find_transport("staged_shared") : asked;
}

std::vector<const TransportInfo*> Choice::used() const {
  std::vector<const TransportInfo*> all;
  for (const TransportInfo* info : {&inside(*near), &inside(*small), far})
    if (std::ranges::find(all, info) == all.end()) all.push_back(info);
  return all;
}

double Choice::handicap() const {
  return std::max({near->traits.handicap, small->traits.handicap, far->traits.handicap});
}

std::string requested_transport(const std::string& from_options) {
  if (!from_options.empty()) return from_options;
  const std::string told = text_told("PARHELION_TRANSPORT");
  return told.empty() ? "auto" : told;
}

void require_reach(const TransportInfo& info, int rank, bool on_node) {
  const std::string refusal = concat("transport ", info.name, " cannot reach rank ", rank);
  if (info.scope == Scope::own_rank)
    refuse(refusal,
        ": it copies only a rank's own periodic ghosts, as every transport does: use auto");
  if (info.scope == Scope::same_node && !on_node)
    refuse(refusal, ", which is on another node: use auto, or ", info.name, "+mpi");
}

Choice require_transport(const ExchangeOptions& options) {
  const std::string name = requested_transport(options.transport);
  return name == "auto" ? Choice{} : parse_choice(name);
}

void require_transport(
    const ExchangeOptions& options, const Communicator& comm, const std::vector<int>& ranks) {
  const Choice choice = require_transport(options);
  if (choice == Choice{}) return;
  comm.node();
  for (const int rank : ranks) {
    if (rank == comm.rank()) continue;
    const bool on_node = comm.node_rank(rank) >= 0;
    for (const TransportInfo* each : {choice.near, choice.small})
      require_reach(on_node ? Choice::inside(*each) : *choice.far, rank, on_node);
  }
}

namespace {

using Known = std::vector<const TransportInfo*>;

constexpr double other_network_within = 1.05;  // for other networks with the best on-node transport
constexpr double by_dimension_within = 1.15;   // for other sequences of the same transports
constexpr double similar_within = 1.2;         // for transports likely to differ a little
constexpr double communicator_s =
    100e-6;  // creating a communicator takes about ten exchanges of this duration
constexpr double similar_bytes =
    1.5;  // factor: three fields instead of two match, double halo width does not

bool adds(const AutoList& list, const std::string& name) {
  return list.contains(name) && list.at(name);
}
bool leaves_out(const AutoList& list, const std::string& name) {
  return list.contains(name) && !list.at(name);
}

}  // namespace

AutoList parse_auto_list(const std::string& text, const Known& known) {
  const auto is_sequence = [](const std::string& name) {
    return name == name_of(Sequence::by_dimension) || name == name_of(Sequence::far_by_dimension);
  };
  AutoList list;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto refuse = [](const std::string& why) { throw Error("PARHELION_AUTO: " + why); };
    if (!word.starts_with('+') && !word.starts_with('-'))
      refuse("'" + word + "' has no sign: write +NAME to try a transport, -NAME to leave it out");
    const std::string name = word.substr(1);
    const bool added = word[0] == '+';
    if (is_sequence(name) && added)
      refuse(name + " is a candidate only with the option at_once: set it, or name " + name +
             ":TRANSPORT as the transport");
    if (!is_sequence(name) && std::ranges::find(known, name, &TransportInfo::name) == known.end()) {
      std::string all;
      for (const TransportInfo* info : known) all += info->name + ", ";
      refuse("there is no transport '" + name + "': use some of " + all +
             "by_dimension, far_by_dimension");
    }
    if (!list.emplace(name, added).second && list[name] != added)
      refuse(name + " is both added and left out");
  }
  return list;
}

namespace {

bool takes_part(const TransportInfo& info, const Situation& situation, const AutoList& list) {
  const bool alone = !situation.near && !situation.far;
  if (alone || info.scope == Scope::own_rank)
    return alone && info.scope == Scope::own_rank && !leaves_out(list, info.name);
  if (list.contains(info.name)) return adds(list, info.name);
  const Traits& traits = info.traits;
  if (info.scope == Scope::same_node && !situation.near) return false;
  return (!traits.between_nodes || situation.far) &&
         (!traits.makes_communicator || !situation.threads) &&
         (!traits.passes_on || (situation.at_once && situation.near));
}

class Candidates {
 public:
  Candidates(const Known& all, const Situation& situation, const AutoList& list)
      : situation_(situation), list_(list) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (takes_part(*all[i], situation, list) && !situation.refused[i]) sort_in(*all[i]);
  }

  std::vector<Candidate> all() {
    if (!situation_.near && !situation_.far)
      for (const TransportInfo* info : alone_) add({info, info, info});
    else if (situation_.near && situation_.far) add_behind_each();
    else if (situation_.near)
      for (const Choice& choice : near_choices()) add(choice);
    add_sequences();
    const int first_alone = found_.size();
    for (const TransportInfo* network : networks_) {
      if (situation_.near && network->traits.between_nodes && !adds(list_, network->name)) continue;
      add_network(*network, first_alone);
      if (!situation_.near && network == networks_.front()) add_sequences();
    }
    add_sequences();
    return std::move(found_);
  }

 private:
  void sort_in(const TransportInfo& info) {
    if (info.scope == Scope::own_rank) alone_.push_back(&info);
    else if (info.scope == Scope::anywhere) networks_.push_back(&info);
    else if (!info.traits.direct) packed_.push_back(&info);
    else if (direct_.empty() || adds(list_, info.name)) direct_.push_back(&info);
  }

  Candidate& add(const Choice& choice) { return found_.emplace_back(Candidate{choice}); }

  // On-node transports. Packed messages transfer small pieces faster.
  std::vector<Choice> near_choices() const {
    std::vector<Choice> all, direct, packed;
    for (const TransportInfo* one : direct_) {
      direct.push_back({one, one, one});
      for (const TransportInfo* ring : packed_)
        if (situation_.small && situation_.large) all.push_back({one, ring, one});
    }
    for (const TransportInfo* ring : packed_) packed.push_back({ring, ring, ring});
    if (situation_.small) direct.swap(packed);
    all.insert(all.end(), direct.begin(), direct.end());
    all.insert(all.end(), packed.begin(), packed.end());
    return all;
  }

  // Pairs each network with the on-node choices. Sequences precede later networks, which may be
  // slow to set up.
  void add_behind_each() {
    const std::vector<Choice> inside = near_choices();
    for (const TransportInfo* network : networks_) {
      if (network != networks_.front()) add_sequences();
      for (std::size_t i = 0; i < inside.size(); ++i) {
        Candidate& next = add({inside[i].near, inside[i].small, network});
        if (network == networks_.front()) continue;
        next.after = i, next.within = other_network_within;
        if (network->traits.makes_communicator) next.least_s = communicator_s;
      }
    }
  }

  // A transport that creates a communicator sends the same messages by other MPI calls.
  void add_network(const TransportInfo& network, int first) {
    Candidate& next = add({&network, &network, &network});
    if (!network.traits.makes_communicator || adds(list_, network.name)) return;
    next.least_s = communicator_s;
    if (first + 1 < std::ssize(found_)) next.after = first, next.within = similar_within;
  }

  // Adds each new candidate's other sequences, except transports that forward messages.
  void add_sequences() {
    const std::size_t before = found_.size();
    const auto add_each = [&](Sequence sequence, bool saves) {
      if (!saves || !situation_.at_once || leaves_out(list_, name_of(sequence))) return;
      for (std::size_t i = in_order_; i < before; ++i) {
        Choice choice = found_[i].choice;
        if (choice.far->traits.passes_on) continue;
        choice.sequence = sequence;
        Candidate& next = add(choice);
        next.after = i, next.within = by_dimension_within;
      }
    };
    add_each(Sequence::by_dimension, situation_.by_dimension);
    add_each(Sequence::far_by_dimension, situation_.far_by_dimension);
    in_order_ = found_.size();
  }

  const Situation& situation_;
  const AutoList& list_;
  std::vector<Candidate> found_;
  std::size_t in_order_ = 0;  // candidates whose sequences are added
  Known alone_, networks_, direct_, packed_;
};

}  // namespace

std::vector<Candidate> candidates(
    const Known& all, const Situation& situation, const AutoList& list) {
  return Candidates(all, situation, list).all();
}

namespace {

// Per communicator: all ranks store the same.
class TuningCache {
 public:
  explicit TuningCache(const Communicator&) {}
  /// Null when no plan of this kind sent a similar number of bytes.
  const Choice* find(std::uint64_t kind, std::uint64_t bytes) const {
    const auto similar = [&](const Entry& entry) {
      const auto [less, more] =
          std::minmax({static_cast<double>(entry.bytes), static_cast<double>(bytes)});
      return entry.kind == kind && more < similar_bytes * less;
    };
    const auto known = std::ranges::find_if(all_, similar);
    return known == all_.end() ? nullptr : &known->choice;
  }
  /// Call before `learn`, which then allocates nothing.
  void reserve() { all_.reserve(all_.size() + 1); }
  void learn(std::uint64_t kind, std::uint64_t bytes, const Choice& choice) {
    std::erase_if(
        all_, [&](const Entry& known) { return known.kind == kind && known.bytes == bytes; });
    all_.insert(all_.begin(), {kind, bytes, choice});
  }

 private:
  struct Entry {
    std::uint64_t kind, bytes;
    Choice choice;
  };
  std::vector<Entry> all_;
};

// Sums over all ranks, from one reduction.
struct Survey {
  Situation situation;
  SequenceSurvey sequences;
  std::uint64_t kind = 0;   // independent of the number and width of fields
  std::uint64_t bytes = 0;  // sent by all ranks
};

// Tests direct transports up to the first usable one: testing XPMEM initializes it.
std::vector<bool> refused_here(
    const Plan& plan, const Known& all, const Situation& here, const AutoList& list) {
  std::vector<bool> refused;
  const bool watched = plan.communicator().shared_state<Watch>().node() != nullptr;
  bool found_direct = false;
  for (const TransportInfo* info : all) {
    const bool another_serves = info->traits.direct && found_direct && !adds(list, info->name);
    const bool asked = takes_part(*info, here, list) && !another_serves;
    const bool needs_node = info->scope == Scope::same_node || info->traits.passes_on;
    const auto is_hopeless = [&] {
      return info->traits.is_promising && !adds(list, info->name) && !info->traits.is_promising();
    };
    refused.push_back(asked && ((needs_node && !watched) || !info->unavailable().empty() ||
                                   is_hopeless() || !refusal_of(*info, plan).empty()));
    found_direct = found_direct || (info->traits.direct && asked && !refused.back());
  }
  return refused;
}

Survey survey(
    const Plan& plan, const Known& known, const AutoList& list, const ExchangeOptions& options) {
  const Communicator& comm = plan.communicator();
  comm.node();
  Situation here{.at_once = options.at_once, .threads = mpi_serves_all_threads()};
  Hash hash;  // equal for similar plans: same neighbors, small pieces, fastest dimension in memory
  hash.add(plan.executor->threads());
  for (const StagePlan& stage : plan.stages)
    for (const LinkPlan& link : stage.links) {
      const bool on_node = comm.node_rank(link.rank) >= 0;
      (on_node ? here.near : here.far) = true;
      if (on_node) (link.small ? here.small : here.large) = true;
      hash.add(link.rank).add(on_node).add(link.small);
      hash.add(link.forward.send_bytes > 0).add(link.forward.receive_bytes > 0);
      if (!link.orders.empty()) hash.add_range(link.orders.front());
    }
  const std::uint64_t kind = hash.value() * (2 * static_cast<std::uint64_t>(comm.rank()) + 1);
  std::vector<std::uint64_t> mine{kind, static_cast<std::uint64_t>(plan.bytes_sent()), here.near,
      here.far, here.small, here.large, here.threads};
  const std::size_t sequences = mine.size();
  std::ranges::copy(SequenceSurvey(plan).told(), std::back_inserter(mine));
  for (const bool refused : refused_here(plan, known, here, list)) mine.push_back(refused);
  std::vector<std::uint64_t> all = std::move(mine);
  reduce(comm, Combine::sum, all);
  Survey found{{}, SequenceSurvey(&all[sequences]), all[0], all[1]};
  Situation& there = found.situation;
  bool* const flags[] = {&there.near, &there.far, &there.small, &there.large, &there.threads};
  for (std::size_t i = 0; i < std::size(flags); ++i) *flags[i] = all[2 + i] > 0;
  there.at_once = options.at_once;
  there.by_dimension = found.sequences.serves(Sequence::by_dimension);
  there.far_by_dimension = found.sequences.serves(Sequence::far_by_dimension);
  for (std::size_t i = sequences + SequenceSurvey::words; i < all.size(); ++i)
    there.refused.push_back(all[i] > 0);
  return found;
}

// Times forward exchanges of all ranks, used as by the program: the slowest rank's time inside.
// Overwrites ghosts.
class Trials final : public Track {
 public:
  Trials(const Plan& plan, const BoundArrays& arrays, const std::vector<Candidate>& all,
      const ExchangeOptions& options, const SequenceSurvey& sequences)
      : plan_(plan), arrays_(arrays), candidates_(all), overlap_(options.overlap),
        combine_in_end_(options.combine_in_end), work_s_(options.work_s), sequences_(sequences),
        made_(all.size()) {}

  // A candidate that the system refuses on all ranks leaves the race.
  std::string make(int candidate) override {
    const Choice& choice = candidates_[candidate].choice;
    try {
      auto& plan = plans_[choice.sequence];
      if (!plan) plan = plan_in_order(plan_, sequences_, choice.sequence);
      made_[candidate] = std::make_unique<Stages>(plan_, arrays_, choice, plan);
      if (is_tried_out(choice)) made_[candidate]->make_reverse(combine_in_end_);
    } catch (const Error& error) {
      if (!error.is_refusal()) throw;
      made_[candidate].reset();
      return error.what();
    }
    return {};
  }

  std::vector<double> take(const std::vector<Turn>& turns) override {
    std::vector<double> mine;
    for (const Turn& turn : turns) {
      Stages& stages = *made_[turn.candidate];
      seconds_of(stages, turn.warming);
      for (int s = 0; s < turn.samples; ++s)
        mine.push_back(seconds_of(stages, turn.each) / turn.each);
    }
    mine.push_back(MPI_Wtime() - start_);
    std::vector<double> all = std::move(mine);  // non-negative doubles order like their bits
    reduce(plan_.communicator(), Combine::largest,
        {reinterpret_cast<std::uint64_t*>(all.data()), all.size()});
    elapsed_ = all.back();
    std::vector<double> seconds;
    for (auto next = all.cbegin(); const Turn& turn : turns) {
      seconds.push_back(median({next, next + turn.samples}));
      next += turn.samples;
    }
    // The lower of two exchanges: a disturbed one must not lengthen all trials.
    if (overlap_ && work_s_ == 0) work_s_ = std::min(seconds.front(), 200e-6);
    return seconds;
  }

  double elapsed() const override { return elapsed_; }
  std::unique_ptr<Stages> take_out(int candidate) { return std::move(made_[candidate]); }

 private:
  // Where messages are tried out, an exchange needs those of both directions.
  static bool is_tried_out(const Choice& choice) {
    return std::ranges::any_of(choice.used(),
        [](const TransportInfo* each) { return each->traits.is_promising != nullptr; });
  }

  double seconds_of(Stages& stages, int exchanges) {
    double seconds = 0;
    for (int i = 0; i < exchanges; ++i) {
      if (!overlap_) spin(work_s_);
      double start = MPI_Wtime();
      stages.begin(Direction::forward);
      if (overlap_) {
        stages.leave(true);
        seconds += MPI_Wtime() - start;
        spin(work_s_);
        start = MPI_Wtime();
      }
      stages.end(limit_s_);
      seconds += MPI_Wtime() - start;
    }
    return seconds;
  }

  // Stands in for the work: keeps the core busy, touches no arrays.
  static void spin(double seconds) {
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < seconds;) {
    }
  }

  // Limits each wait: a neighbor may hang in a trial, too.
  const double limit_s_ =
      setup_time_limit(CollectiveCall::now() != nullptr ? CollectiveCall::now()->timeout_s() : 0);
  const Plan& plan_;
  const BoundArrays& arrays_;
  const std::vector<Candidate>& candidates_;
  const bool overlap_, combine_in_end_;
  double work_s_;  // with overlap, 0 until the first turn measures an exchange
  const SequenceSurvey& sequences_;
  std::map<Sequence, std::shared_ptr<const Plan>> plans_;
  std::vector<std::unique_ptr<Stages>> made_;
  double elapsed_ = 0;  // equal on all ranks
  const double start_ = MPI_Wtime();
};

// A clause, then a table: each variant's time, fastest first, or why it was refused.
std::string reason_of(
    const std::vector<Candidate>& all, const RaceResult& result, const ExchangeOptions& options) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  const auto seconds = [&](std::size_t i) {
    const Standing& each = result.standings[i];
    return each.made ? each.seconds() : std::numeric_limits<double>::max();
  };
  std::ranges::stable_sort(order, {}, seconds);
  int width = std::string_view("variant").size();
  for (const Candidate& each : all) width = std::max<int>(width, each.choice.name().size());
  std::ostringstream text;
  text << std::left << std::fixed << std::setprecision(1);
  text << "the fastest in its benchmark\n  " << std::setw(width) << "variant"
       << "  µs per exchange" << (options.overlap ? ", in begin and end" : "");
  for (const std::size_t i : order) {
    const Standing& each = result.standings[i];
    if (!each.made && each.refusal.empty()) continue;
    text << "\n  " << std::setw(width) << all[i].choice.name() << "  ";
    if (each.made) text << std::right << std::setw(15) << each.seconds() * 1e6 << std::left;
    if (std::cmp_equal(i, result.winner)) text << "  chosen";
    if (!each.refusal.empty()) text << "left out: " << each.refusal;
  }
  return text.str();
}

Selected made(const Plan& plan, const BoundArrays& arrays, const Choice& choice,
    const SequenceSurvey& sequences, const std::string& reason) {
  return {choice,
      std::make_unique<Stages>(
          plan, arrays, choice, plan_in_order(plan, sequences, choice.sequence)),
      reason};
}

}  // namespace

Selected select_by_name(const Plan& plan, const BoundArrays& arrays, const Choice& choice) {
  std::array<std::uint64_t, SequenceSurvey::words> all{};
  if (choice.sequence != Sequence::direct) {
    std::ranges::copy(SequenceSurvey(plan).told(), all.begin());
    reduce(plan.communicator(), Combine::sum, all);
  }
  return made(plan, arrays, choice, SequenceSurvey(all.data()), "selected by name");
}

Selected select(
    const Plan& plan, const BoundArrays& arrays, const ExchangeOptions& options, bool anew) {
  const Communicator& comm = plan.communicator();
  const Known known = known_transports();
  const AutoList list =
      parse_auto_list(text_told("PARHELION_AUTO"), known);  // equal on all ranks, so all throw
  const Survey found = survey(plan, known, list, options);
  const std::vector<Candidate> all = candidates(known, found.situation, list);
  if (all.empty())
    throw Error("no transport reaches arrays in " +
                std::string(to_string(plan.fields.front().space)) +
                " memory of all neighbors: exclude fewer in PARHELION_AUTO, keep arrays in "
                "the host's memory, or register a transport for it");
  Hash kind;
  kind.add(found.kind)
      .add(comm.size())
      .add(options.overlap)
      .add(static_cast<std::int64_t>(options.work_s * 1e9));
  for (const Candidate& each : all) kind.add_range(each.choice.name());
  TuningCache& cache = comm.shared_state<TuningCache>();
  const bool only_one = all.size() == 1;
  const Choice* decided = only_one ? &all.front().choice
                          : anew   ? nullptr
                                   : cache.find(kind.value(), found.bytes);
  try {
    if (decided != nullptr)
      return made(plan, arrays, *decided, found.sequences,
          only_one ? "the only candidate" : "as measured for a similar plan before");
  } catch (const Error& error) {  // the race reports what the system now refuses on all ranks
    if (!error.is_refusal()) throw;
  }
  SavedGhosts ghosts(plan);
  Trials trials(plan, arrays, all, options, found.sequences);
  const RaceResult result = run_race(all, trials);
  if (result.winner < 0)
    throw Error("auto found no transport that works: " + result.standings.front().refusal,
        ErrorKind::system);
  std::string reason;
  validate_together(comm, [&] {
    ghosts.restore();
    cache.reserve();
    reason = reason_of(all, result, options);
  });
  const Choice& winner = all[result.winner].choice;
  cache.learn(kind.value(), found.bytes, winner);
  return {winner, trials.take_out(result.winner), std::move(reason)};
}

}  // namespace parhelion
