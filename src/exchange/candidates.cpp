#include "exchange/candidates.hpp"

#include <algorithm>

#include "parhelion/core/error.hpp"

namespace parhelion {
namespace {

constexpr double near_the_fastest = 1.05;  // another network is tried behind the best way inside the node only
constexpr double akin_at_most = 1.5;       // times the fastest, for what can be expected to differ a little

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
        for (const TransportInfo* network : networks_)
            if (!situation_.near || !network->traits.between_nodes || list_.adds(network->name)) add_alone(*network);
        return std::move(found_);
    }

private:
    bool takes_part(const TransportInfo& info) const {
        if (list_.adds(info.name)) return true;
        const bool fits = !info.traits.by_name_only && (!info.traits.between_nodes || situation_.far);
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
            straight.push_back({direct->name});
            for (const TransportInfo* ring : packed_)
                if (situation_.thin && situation_.wide) mixed.push_back({direct->name + "|" + ring->name});
        }
        for (const TransportInfo* ring : packed_) packed.push_back({ring->name, true});
        const auto& [first, second] = situation_.thin ? std::pair{packed, straight} : std::pair{straight, packed};
        mixed.insert(mixed.end(), first.begin(), first.end());
        mixed.insert(mixed.end(), second.begin(), second.end());
        return mixed;
    }

    void add_near() { found_ = near_ways(); }

    void add_behind_each() {
        const std::vector<Candidate> ways = near_ways();
        for (std::size_t network = 0; network < networks_.size(); ++network)
            for (std::size_t way = 0; way < ways.size(); ++way) {
                Candidate next{ways[way].name + "+" + networks_[network]->name, ways[way].steady};
                if (network > 0) next.after = static_cast<int>(way), next.within = near_the_fastest;
                found_.push_back(std::move(next));
            }
    }

    void add_alone(const TransportInfo& network) {
        Candidate next{network.name};
        if (const TransportInfo* akin = akin_to(network)) {
            for (std::size_t i = 0; i < found_.size(); ++i)
                if (found_[i].name == akin->name) next.after = static_cast<int>(i), next.within = akin_at_most;
        }
        found_.push_back(std::move(next));
    }

    const Situation& situation_;
    const AutoList& list_;
    std::vector<Candidate> alone_, found_;
    std::vector<const TransportInfo*> networks_, straight_, packed_;
};

}  // namespace

std::vector<Candidate> candidates(const std::vector<TransportInfo>& all, const Situation& situation, const AutoList& list) {
    auto found = Derivation(all, situation, list).run();
    if (found.empty()) throw Error("auto finds no transport that reaches all neighbors: leave fewer out in PARHELION_AUTO");
    return found;
}

}  // namespace parhelion
