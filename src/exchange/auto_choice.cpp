#include "exchange/auto_choice.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "core/collective.hpp"
#include "exchange/wisdom.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/core/hash.hpp"
#include "plan/copy_team.hpp"
#include "plan/packed_cells.hpp"
#include "transport/node/watch.hpp"

namespace parhelion {
namespace {

constexpr double alike_within = 1.5;  // times the bytes: three fields instead of two, not twice as wide a halo

// What was measured; on the communicator, so that all ranks remember the same.
class Memory {
public:
    explicit Memory(const Communicator&) {}
    /// The choice for plans of this kind, of those that were measured the one that sends the most similar number of bytes; null where none is similar.
    const std::string* find(std::uint64_t kind, std::uint64_t bytes) const {
        const auto apart = [bytes](const Entry& entry) {
            const auto [less, more] = std::minmax({static_cast<double>(entry.bytes), static_cast<double>(bytes)});
            return less == more ? 1 : more / less;
        };
        const Entry* nearest = nullptr;
        for (const Entry& entry : all_)
            if (entry.kind == kind && apart(entry) < alike_within && (nearest == nullptr || apart(entry) < apart(*nearest)))
                nearest = &entry;
        return nearest == nullptr ? nullptr : &nearest->choice;
    }
    void learn(std::uint64_t kind, std::uint64_t bytes, std::string choice) { all_.push_back({kind, bytes, std::move(choice)}); }

private:
    struct Entry {
        std::uint64_t kind, bytes;
        std::string choice;
    };
    std::vector<Entry> all_;
};

// What all ranks know of a plan after one reduction.
struct Survey {
    Situation situation;
    StagingSurvey staged;
    std::uint64_t print = 0;  // equal for plans that are equal on each rank, in this run and in others
    std::uint64_t kind = 0;   // equal also where fewer or more fields, or wider ones, go the same way
    std::uint64_t bytes = 0;  // that all ranks send
    bool wisdom = false;      // rank 0 has a file
};

// Of this rank: what adds up to a number for all.
std::uint64_t of_rank(const Hash& hash, const Communicator& comm) {
    return hash.value() * (2 * static_cast<std::uint64_t>(comm.rank()) + 1);
}

// Equal for plans of a kind on this rank: the same neighbors, pieces as thin, the same dimension fastest in memory.
Hash own_kind(const Plan& plan) {
    Hash hash;
    hash.add(plan.team ? plan.team->size() : 1);
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links) {
            hash.add(link.rank)
                .add(plan.communicator().node_rank(link.rank) >= 0)
                .add(link.thin)
                .add(link.forward.send_bytes > 0)
                .add(link.forward.receive_bytes > 0);
            if (!link.orders.empty()) hash.add_range(link.orders.front());
        }
    return hash;
}

// Equal for equal plans on this rank.
Hash own_print(const Plan& plan) {
    Hash hash = own_kind(plan);
    for (const Field& field : plan.fields) {
        hash.add(field.element.size).add(field.components).add(field.component_stride).add(field.ragged());
        for (const BlockView& block : field.blocks) hash.add_range(block.strides).add(block.component_stride);
    }
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links) hash.add(link.forward.send_bytes).add(link.forward.receive_bytes);
    return hash;
}

bool is_of_use(const TransportInfo& info, bool near, bool far, bool at_once) {
    const Traits& traits = info.traits;
    if (traits.by_name_only || (traits.passes_on && !at_once)) return false;
    return info.scope == Scope::anywhere ? (near || far) && (!traits.between_nodes || far) : near;
}

// Of several that write straight into arrays only the first that can is asked for, as long as it can: asking for XPMEM sets it up.
std::vector<bool> refused_here(const Plan& plan, const std::vector<TransportInfo>& all, bool near, bool far, bool at_once,
                               const AutoList& list) {
    std::vector<bool> refused;
    bool found_straight = false;
    for (const TransportInfo& info : all) {
        const bool added = list.adds(info.name), straight = info.traits.straight;
        const bool asked_for = !list.leaves_out(info.name) && (added || is_of_use(info, near, far, at_once));
        const bool skipped = !asked_for || (straight && found_straight && !added);
        const bool needs_node = info.scope == Scope::same_node || info.traits.passes_on;
        const bool watched = plan.communicator().shared_state<Watch>().node() != nullptr;
        const bool can =
            skipped || ((watched || !needs_node) && (!info.unavailable || info.unavailable().empty()) && refusal_of(info, plan).empty());
        found_straight = found_straight || (straight && !skipped && can);
        refused.push_back(!can);
    }
    return refused;
}

Survey survey(const Plan& plan, const std::vector<TransportInfo>& known, const AutoList& list, const Use& use) {
    const Communicator& comm = plan.communicator();
    comm.node();
    bool near = false, far = false, thin = false, wide = false;
    for (const StagePlan& stage : plan.stages)
        for (const LinkPlan& link : stage.links) {
            const bool on_node = comm.node_rank(link.rank) >= 0;
            (on_node ? near : far) = true;
            if (on_node) (link.thin ? thin : wide) = true;
        }
    std::vector<std::uint64_t> mine{of_rank(own_print(plan), comm),
                                    near,
                                    far,
                                    thin,
                                    wide,
                                    comm.rank() == 0 && wisdom_file() != nullptr,
                                    of_rank(own_kind(plan), comm),
                                    static_cast<std::uint64_t>(plan.bytes_sent())};
    const std::size_t staged = mine.size(), flags = staged + StagingSurvey::words;
    std::ranges::copy(StagingSurvey(plan).told(), std::back_inserter(mine));
    for (const bool refused : refused_here(plan, known, near, far, use.at_once, list)) mine.push_back(refused);
    std::vector<std::uint64_t> all = std::move(mine);
    reduce(comm, Combine::sum, all);
    Survey found{{all[1] > 0, all[2] > 0, all[3] > 0, all[4] > 0, false, false, use.at_once, {}},
                 StagingSurvey(&all[staged]),
                 all[0],
                 all[6],
                 all[7],
                 all[5] > 0};
    const auto allowed = [&](Staging staging) { return (use.at_once || list.adds(name_of(staging))) && found.staged.serves(staging); };
    found.situation.staged = allowed(Staging::everywhere);
    found.situation.staged_far = allowed(Staging::between_nodes);
    for (std::size_t i = flags; i < all.size(); ++i) found.situation.refused.push_back(all[i] > 0);
    return found;
}

// What else a choice depends on.
std::uint64_t full_print(std::uint64_t plan, const std::vector<Candidate>& ways, const Use& use, int ranks) {
    Hash hash;
    hash.add(plan).add(ranks).add(use.overlap).add(static_cast<std::int64_t>(use.work_s * 1e9));
    for (const Candidate& way : ways) hash.add_range(way.name);
    return hash.value();
}

// Rank 0 asks its file, and tells the others: empty where it knows nothing.
std::string ask_wisdom(const Communicator& comm, std::uint64_t print) {
    std::array<std::uint64_t, 16> words{};
    auto* const text = reinterpret_cast<char*>(words.data());
    if (comm.rank() == 0)
        if (const auto known = wisdom_file()->find({print, wisdom_machine(), wisdom_mpi()})) known->copy(text, sizeof words - 1);
    reduce(comm, Combine::either, words);
    return text;
}

AutoChoice made(const Plan& plan, const BoundArrays& arrays, const Choice& choice, StagedPlans& staged, const std::string& reason) {
    return {choice, std::make_unique<Stages>(plan, arrays, choice, staged.plan(choice.staging)), {}, reason};
}

// Nothing where the system refuses it now, to all ranks.
std::optional<AutoChoice> make(const Plan& plan, const BoundArrays& arrays, const std::string& name, StagedPlans& staged,
                               const std::string& reason) {
    try {
        return made(plan, arrays, parse_choice(name), staged, reason);
    } catch (const Error& error) {
        if (!error.is_refusal()) throw;
        return std::nullopt;
    }
}

std::string reason_of(const std::vector<Measured>& measured, const Use& use) {
    std::ostringstream text;
    text << "the fastest when the exchange was made (µs per exchange" << (use.overlap ? ", in begin and end" : "") << ":";
    for (const Measured& each : measured)
        if (each.refusal.empty()) text << " " << each.name << " " << each.seconds * 1e6;
    text << ")";
    for (const Measured& each : measured)
        if (!each.refusal.empty()) text << ", " << each.name << " left out: " << each.refusal;
    return text.str();
}

AutoChoice measure(const Plan& plan, const BoundArrays& arrays, const std::vector<Candidate>& ways, const Use& use, StagedPlans& staged) {
    Trials trials(plan, arrays, ways, use, staged);
    const SavedGhosts ghosts(plan);
    const RaceResult result = run_race(ways, trials);
    ghosts.restore();
    if (result.winner < 0) throw Error("auto finds no transport that works: " + result.standings.front().refusal, ErrorKind::system);

    AutoChoice chosen{parse_choice(ways[static_cast<std::size_t>(result.winner)].name), trials.take_out(result.winner), {}, {}};
    for (std::size_t i = 0; i < ways.size(); ++i)
        if (const Standing& each = result.standings[i]; each.made || !each.refusal.empty())
            chosen.measured.push_back({ways[i].name, each.seconds(), each.refusal});
    chosen.reason = reason_of(chosen.measured, use);
    return chosen;
}

double seconds_of(const AutoChoice& chosen) {
    for (const Measured& each : chosen.measured)
        if (each.name == chosen.choice.name()) return each.seconds;
    return 0;
}

// Before any is tried: what each lacks would say nothing of what all lack. All ranks have the same spaces.
void require_served(const Plan& plan, const std::vector<TransportInfo>& known, const Situation& situation) {
    const auto serves = [&](const TransportInfo& info) { return info.scope != Scope::own_rank && serves_memory_of(info, plan); };
    if ((!situation.near && !situation.far) || std::ranges::any_of(known, serves)) return;
    throw Error("no transport reaches arrays in " + std::string(to_string(plan.fields.front().space)) +
                " memory: keep them in the host's memory, "
                "or register a transport for it (parhelion/transport/transport.hpp)");
}

}  // namespace

AutoChoice choose_by_name(const Plan& plan, const BoundArrays& arrays, const std::string& name) {
    const Communicator& comm = plan.communicator();
    const Choice choice = parse_choice(name);
    std::array<std::uint64_t, StagingSurvey::words> all{};
    if (choice.staging != Staging::none) {
        std::ranges::copy(StagingSurvey(plan).told(), all.begin());
        reduce(comm, Combine::sum, all);
    }
    StagedPlans staged(plan, StagingSurvey(all.data()));
    return made(plan, arrays, choice, staged, "asked for by name");
}

AutoChoice choose_automatically(const Plan& plan, const BoundArrays& arrays, const Use& use) {
    const Communicator& comm = plan.communicator();
    const std::vector<TransportInfo> known_here = transports();
    const AutoList list = parse_auto_list(auto_list_text(), known_here);  // the text is equal on all ranks, and throws on all
    const Survey found = survey(plan, known_here, list, use);
    require_served(plan, known_here, found.situation);
    StagedPlans staged(plan, found.staged);
    const std::vector<Candidate> ways = candidates(known_here, found.situation, list);
    if (ways.size() == 1)
        if (auto only = make(plan, arrays, ways.front().name, staged, "the only way that can serve it")) return std::move(*only);

    const std::uint64_t print = full_print(found.print, ways, use, comm.size()), kind = full_print(found.kind, ways, use, comm.size());
    Memory& memory = comm.shared_state<Memory>();
    if (const std::string* known = memory.find(kind, found.bytes))
        if (auto again = make(plan, arrays, *known, staged, "as measured for a plan like it before")) return std::move(*again);

    const auto is_way = [&](const std::string& name) {
        return std::ranges::any_of(ways, [&](const Candidate& way) { return way.name == name; });
    };
    if (const std::string known = found.wisdom ? ask_wisdom(comm, print) : ""; is_way(known))
        if (auto learnt = make(plan, arrays, known, staged, "as measured in another run (PARHELION_WISDOM)")) {
            memory.learn(kind, found.bytes, known);
            return std::move(*learnt);
        }

    AutoChoice chosen = measure(plan, arrays, ways, use, staged);
    memory.learn(kind, found.bytes, chosen.choice.name());
    if (found.wisdom && comm.rank() == 0)
        wisdom_file()->learn({{print, wisdom_machine(), wisdom_mpi()}, chosen.choice.name(), seconds_of(chosen)});
    return chosen;
}

}  // namespace parhelion
