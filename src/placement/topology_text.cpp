#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/machine.hpp"

namespace parhelion::placement {
namespace {

const std::map<std::string, std::string, std::less<>>& known_levels() {
    static const std::map<std::string, std::string, std::less<>> known{
        {"node", "node"}, {"machine", "node"},  {"host", "node"},   {"pack", "pack"}, {"package", "pack"}, {"socket", "pack"},
        {"numa", "numa"}, {"numanode", "numa"}, {"group", "group"}, {"die", "die"},   {"l3", "l3"},        {"l3cache", "l3"},
        {"l2", "l2"},     {"l2cache", "l2"},    {"core", "core"},   {"pu", "pu"},     {"thread", "pu"},    {"hwthread", "pu"},
    };
    return known;
}

int parse_count(const std::string& text, const std::string& token, const std::string& all) {
    int count = 0;
    const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (problem != std::errc{} || stop != text.data() + text.size() || count < 1)
        throw Error("topology '" + all + "': '" + token + "' needs a count of at least 1 after the colon, such as 'pack:2'");
    return count;
}

}  // namespace

std::string level_name(const std::string& text) {
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto found = known_levels().find(lower);
    if (found == known_levels().end())
        throw Error("level '" + text + "' is unknown: levels are node, pack (socket), numa, group, die, l3, l2, core, pu (thread)");
    return found->second;
}

Topology parse_topology(const std::string& text) {
    Topology topology;
    std::istringstream stream(text);
    for (std::string token; stream >> token;) {
        const auto colon = token.find(':');
        if (colon == std::string::npos)
            throw Error("topology '" + text + "': '" + token + "' has no count: write level:count, such as 'pack:2'");
        const std::string name = level_name(token.substr(0, colon));
        if (std::ranges::any_of(topology.levels, [&](const auto& level) { return level.name == name; }))
            throw Error("topology '" + text + "' names the level " + name + " twice: give each level once");
        topology.levels.push_back({name, parse_count(token.substr(colon + 1), token, text)});
    }
    if (topology.levels.empty() || topology.levels.front().name != "node")
        throw Error("topology '" + text + "' does not start with nodes: begin with 'node:N', then the parts of a node");
    return topology;
}

}  // namespace parhelion::placement
