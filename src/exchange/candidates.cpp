#include "exchange/candidates.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "exchange/choice.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr double near_the_fastest = 1.05;  // another network is tried behind the best way inside the node only
constexpr double staged_at_most = 1.15;    // the same transports, in stages
constexpr double akin_at_most = 1.2;       // times the fastest, for what can be expected to differ a little

class Derivation {
public:
    Derivation(const std::vector<TransportInfo>& all, const Situation& situation, const AutoList& list)
        : situation_(situation), list_(list) {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (takes_part(all[i]) && !situation.refused[i]) sort_in(all[i]);
        std::stable_partition(networks_.begin(), networks_.end(), [&](const TransportInfo* info) { return akin_to(*info) == nullptr; });
    }

    std::vector<Candidate> run() {
        if (!situation_.near && !situation_.far) return alone_;
        if (situation_.near) situation_.far ? add_behind_each() : add_near();
        for (const TransportInfo* network : networks_) {
            if (situation_.near && network->traits.between_nodes && !list_.adds(network->name)) continue;
            add_alone(*network);
            if (network == networks_.front() && !situation_.near) add_staged();
        }
        add_staged();
        return std::move(found_);
    }

private:
    bool takes_part(const TransportInfo& info) const {
        if (list_.adds(info.name)) return true;
        const bool fits = !info.traits.by_name_only && (!info.traits.between_nodes || situation_.far) &&
                          (!info.traits.passes_on || (situation_.at_once && situation_.near));
        return fits && !list_.leaves_out(info.name);
    }

    void sort_in(const TransportInfo& info) {
        if (info.scope == Scope::own_rank) alone_.push_back({info.name});
        else if (info.scope == Scope::anywhere) networks_.push_back(&info);
        else if (!info.traits.straight) packed_.push_back(&info);
        else if (straight_.empty() || list_.adds(info.name)) straight_.push_back(&info);
    }

    const TransportInfo* akin_to(const TransportInfo& info) const {
        for (const TransportInfo* other : networks_)
            if (other != &info && other->name == info.traits.akin && !list_.adds(info.name)) return other;
        return nullptr;
    }

    // Inside the node. Thin pieces are cheaper through a packed message.
    std::vector<Candidate> near_ways() const {
        std::vector<Candidate> mixed, straight, packed;
        for (const TransportInfo* direct : straight_) {
            straight.push_back({direct->name, direct->traits.handicap});
            for (const TransportInfo* ring : packed_)
                if (situation_.thin && situation_.wide)
                    mixed.push_back({direct->name + "|" + ring->name, std::max(direct->traits.handicap, ring->traits.handicap)});
        }
        for (const TransportInfo* ring : packed_) packed.push_back({ring->name, ring->traits.handicap});
        const auto& [first, second] = situation_.thin ? std::pair{packed, straight} : std::pair{straight, packed};
        mixed.insert(mixed.end(), first.begin(), first.end());
        mixed.insert(mixed.end(), second.begin(), second.end());
        return mixed;
    }

    void add_near() {
        found_ = near_ways();
        add_staged();
    }

    void add_behind_each() {
        const std::vector<Candidate> ways = near_ways();
        for (std::size_t network = 0; network < networks_.size(); ++network) {
            if (network == 1) add_staged();  // before others are made, which may take long
            for (std::size_t way = 0; way < ways.size(); ++way) {
                Candidate next{ways[way].name + "+" + networks_[network]->name,
                               std::max(ways[way].handicap, networks_[network]->traits.handicap)};
                next.in_stages = !networks_[network]->traits.passes_on;
                if (network > 0) next.after = static_cast<int>(way), next.within = near_the_fastest;
                found_.push_back(std::move(next));
            }
        }
    }

    void add_alone(const TransportInfo& network) {
        Candidate next{network.name, network.traits.handicap};
        next.in_stages = !network.traits.passes_on;
        if (const TransportInfo* akin = akin_to(network)) {
            for (std::size_t i = 0; i < found_.size(); ++i)
                if (found_[i].name == akin->name) next.after = static_cast<int>(i), next.within = akin_at_most;
        }
        found_.push_back(std::move(next));
    }

    // Each way since the last call, in stages: behind those that come near the fastest.
    void add_staged() {
        const std::size_t ways = found_.size();
        const auto add = [&](Staging staging) {
            for (std::size_t way = staged_; way < ways; ++way)
                if (found_[way].in_stages)
                    found_.push_back(
                        {name_of(staging) + ":" + found_[way].name, found_[way].handicap, static_cast<int>(way), staged_at_most});
        };
        if (situation_.staged && !list_.leaves_out(name_of(Staging::everywhere))) add(Staging::everywhere);
        if (situation_.staged_far && !list_.leaves_out(name_of(Staging::between_nodes))) add(Staging::between_nodes);
        staged_ = found_.size();
    }

    const Situation& situation_;
    const AutoList& list_;
    std::vector<Candidate> alone_, found_;
    std::size_t staged_ = 0;  // so many of them have been, or are, ways in stages
    std::vector<const TransportInfo*> networks_, straight_, packed_;
};

}  // namespace

std::vector<Candidate> candidates(const std::vector<TransportInfo>& all, const Situation& situation, const AutoList& list) {
    auto found = Derivation(all, situation, list).run();
    if (found.empty()) throw Error("auto finds no transport that reaches all neighbors: leave fewer out in PARHELION_AUTO");
    return found;
}

namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known(const std::string& name, const std::vector<TransportInfo>& known) {
    std::string names;
    for (const TransportInfo& info : known) {
        if (info.name == name) return;
        names += info.name + ", ";
    }
    if (name == name_of(Staging::everywhere) || name == name_of(Staging::between_nodes)) return;
    throw Error("PARHELION_AUTO: there is no transport '" + name + "': use some of " + names + name_of(Staging::everywhere) + ", " +
                name_of(Staging::between_nodes));
}

}  // namespace

bool AutoList::adds(const std::string& name) const { return holds(added, name); }
bool AutoList::leaves_out(const std::string& name) const { return holds(left_out, name); }

AutoList parse_auto_list(const std::string& text, const std::vector<TransportInfo>& known) {
    AutoList list;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        if (word.empty() || (word[0] != '+' && word[0] != '-'))
            throw Error("PARHELION_AUTO: '" + word +
                        "' has no sign: write +NAME to have a transport tried, -NAME to leave it out, "
                        "separated by commas");
        const std::string name = word.substr(1);
        require_known(name, known);
        (word[0] == '+' ? list.added : list.left_out).push_back(name);
        if (list.adds(name) && list.leaves_out(name)) throw Error("PARHELION_AUTO: " + name + " is both added and left out");
    }
    return list;
}

std::string auto_list_text() {
    const char* text = std::getenv("PARHELION_AUTO");
    return text == nullptr ? "" : text;
}

}  // namespace parhelion
