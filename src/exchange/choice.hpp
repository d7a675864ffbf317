// Which transport serves which neighbor, and in how many stages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "parhelion/transport/transport.hpp"

namespace parhelion {

/// none: as the patterns say. everywhere: dimension by dimension, those that cross nodes first. between_nodes: those that cross nodes one by
/// one, then all neighbors on the own node at once.
enum class Staging : std::uint8_t { none, everywhere, between_nodes };

/// "", "staged", "staged_far".
const std::string& name_of(Staging staging);
/// What a choice's name begins with, as in "staged:shared"; takes it away. Throws Error for other words.
Staging take_staging(std::string& name);

/// What ranks tell each other of their patterns' dimensions, for one sum over all of them: words that are 0 or not.
class StagingSurvey {
public:
    static constexpr std::size_t words = 2 + 2 * max_dimensions;
    /// Local.
    explicit StagingSurvey(const Plan& plan);
    /// The sum over all ranks.
    explicit StagingSurvey(const std::uint64_t* sum) { std::copy_n(sum, words, words_.begin()); }

    const std::array<std::uint64_t, words>& told() const { return words_; }
    /// Whether stages would fill the same ghosts with fewer messages.
    bool serves(Staging staging) const;
    /// Which dimensions each stage fetches.
    std::vector<std::uint8_t> stages(Staging staging) const;

private:
    bool is_possible() const { return words_[0] == 0; }
    bool saves_messages() const { return words_[1] > 0; }
    bool near(int d) const { return words_[2 + 2 * static_cast<std::size_t>(d)] > 0; }
    bool far(int d) const { return words_[3 + 2 * static_cast<std::size_t>(d)] > 0; }
    std::array<std::uint64_t, words> words_{};
};

/// A plan's forward direction in stages, compiled when it is asked for. The plan must outlive it.
class StagedPlans {
public:
    StagedPlans(const Plan& plan, const StagingSurvey& survey) : plan_(plan), survey_(survey) {}
    /// Local. none: null, the plan itself. Throws Error, on all ranks, where it does not serve.
    std::shared_ptr<const Plan> plan(Staging staging);

private:
    const Plan& plan_;
    const StagingSurvey survey_;
    std::map<Staging, std::shared_ptr<const Plan>> made_;
};

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
