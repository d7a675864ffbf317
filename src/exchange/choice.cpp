#include "exchange/choice.hpp"

#include <bit>
#include <cstdlib>

#include "parhelion/core/error.hpp"
#include "plan/staged_plan.hpp"

namespace parhelion {

std::string Choice::name() const {
    std::string text = (staging == Staging::none ? "" : name_of(staging) + ":") + near->name;
    if (thin != near) text += "|" + thin->name;
    if (far != near) text += "+" + far->name;
    return text;
}

std::vector<const TransportInfo*> Choice::used() const {
    std::vector<const TransportInfo*> all{near};
    for (const TransportInfo* info : {thin, far})
        if (std::find(all.begin(), all.end(), info) == all.end()) all.push_back(info);
    return all;
}

Choice parse_choice(const std::string& full_name) {
    std::string name = full_name;
    const Staging staging = take_staging(name);
    const auto plus = name.find('+');
    const std::string node = name.substr(0, plus);
    const auto bar = node.find('|');
    const TransportInfo& near = find_transport(node.substr(0, bar));
    const TransportInfo& thin = bar == std::string::npos ? near : find_transport(node.substr(bar + 1));
    const TransportInfo& far = plus == std::string::npos ? near : find_transport(name.substr(plus + 1));
    if (plus != std::string::npos && far.scope != Scope::anywhere)
        throw Error("transport " + far.name + " does not reach other nodes: put what does behind the +, as in " + near.name +
                    "+mpi");
    return {&near, &thin, &far, staging};
}

std::string requested_transport(const std::string& from_options) {
    if (!from_options.empty()) return from_options;
    const char* from_environment = std::getenv("PARHELION_TRANSPORT");
    return from_environment != nullptr && *from_environment != '\0' ? from_environment : "auto";
}

namespace {

const std::array<std::string, 3> names{"", "staged", "staged_far"};

}  // namespace

const std::string& name_of(Staging staging) { return names[static_cast<std::size_t>(staging)]; }

Staging take_staging(std::string& name) {
    const auto colon = name.find(':');
    if (colon == std::string::npos) return Staging::none;
    const std::string staging = name.substr(0, colon);
    name.erase(0, colon + 1);
    for (const Staging each : {Staging::everywhere, Staging::between_nodes})
        if (staging == name_of(each)) return each;
    throw Error("there is no way '" + staging + "' to go before a transport: use staged:, staged_far:, or the transport alone");
}

StagingSurvey::StagingSurvey(const Plan& plan) {
    const Communicator& comm = plan.communicator();
    const auto add_link = [&](const Pattern& pattern, const Link& link) {
        bool beside = false;
        const std::size_t far = comm.node_rank(link.rank) < 0;
        for (const BoxPiece& piece : link.receive.boxes) {
            const DimensionSet ghosts = ghost_dimensions(piece, pattern.dimensions);
            if (!std::has_single_bit(ghosts)) continue;
            beside = true;
            ++words_[2 + 2 * static_cast<std::size_t>(std::countr_zero(ghosts)) + far];
        }
        if (!beside && !link.receive.boxes.empty()) ++words_[1];  // a message that others can pass on
    };
    for (const auto& pattern : plan.patterns) {
        if (pattern->indexed()) continue;
        if (!fills_corners(*pattern)) ++words_[0];
        else
            for (const Link& link : pattern->stages.front())
                if (link.rank != comm.rank()) add_link(*pattern, link);
    }
}

bool StagingSurvey::serves(Staging staging) const {
    if (!is_possible() || !saves_messages()) return false;
    return staging == Staging::everywhere || (stages(staging).size() > 1 && stages(staging) != stages(Staging::everywhere));
}

// Between nodes first: these messages are the smallest then, and what they bring is passed on inside the node.
std::vector<std::uint8_t> StagingSurvey::stages(Staging staging) const {
    std::vector<DimensionSet> stages;
    unsigned near_ones = 0, own_ones = 0;
    for (int d = 0; d < max_dimensions; ++d)
        if (far(d)) stages.push_back(static_cast<DimensionSet>(1u << d));
        else (near(d) ? near_ones : own_ones) |= 1u << d;
    if (staging == Staging::everywhere) {
        for (int d = 0; d < max_dimensions; ++d)
            if ((near_ones >> d & 1) != 0) stages.push_back(static_cast<DimensionSet>(1u << d));
        near_ones = 0;
    }
    // A rank's own images need no message: with the last stage.
    if (near_ones != 0) stages.push_back(static_cast<DimensionSet>(near_ones));
    if (stages.empty()) stages.push_back(0);
    stages.back() = static_cast<DimensionSet>(stages.back() | own_ones);
    return stages;
}

std::shared_ptr<const Plan> StagedPlans::plan(Staging staging) {
    if (staging == Staging::none) return nullptr;
    if (!survey_.serves(staging))
        throw Error("the exchange cannot go by '" + name_of(staging) +
                    ":': it serves stencils with edges and corners, where some "
                    "rank has a diagonal neighbor: use the transport alone");
    auto& made = made_[staging];
    if (!made) made = std::make_shared<const Plan>(staged_plan(plan_, survey_.stages(staging)));
    return made;
}

}  // namespace parhelion
