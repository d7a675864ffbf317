#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "parhelion/core/error.hpp"
#include "parhelion/placement/limits.hpp"
#include "parhelion/placement/node_topology.hpp"

namespace parhelion::placement {
namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

// Value of a tag's attributes: name="value" pairs. hwloc escapes only characters that we never need.
Attributes attributes_of(std::string_view tag) {
    Attributes attributes;
    for (std::size_t at = 0; (at = tag.find('=', at)) != std::string_view::npos;) {
        const auto name_start = tag.find_last_of(" \t\n", at) + 1;
        const auto open = tag.find('"', at);
        const auto close = open == std::string_view::npos ? open : tag.find('"', open + 1);
        if (close == std::string_view::npos) break;
        attributes.emplace(tag.substr(name_start, at - name_start), tag.substr(open + 1, close - open - 1));
        at = close;
    }
    return attributes;
}

// "0x0000000f,0xffffffff": 32 bits each, the highest first; "0xf...f" sets every bit above.
CpuSet parse_bitmap(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    CpuSet cpus;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[words.size() - 1 - i];
        const auto bits = word.empty() ? 0ul : std::strtoul(word.c_str(), nullptr, 16);
        for (int bit = 0; bit < 32; ++bit)
            if (bits >> bit & 1) cpus.push_back(static_cast<int>(32 * i) + bit);
    }
    return cpus;
}

// Objects that are levels, by hwloc's name. Version 1 wrote caches as type "Cache" with a depth.
std::string level_of(const Attributes& object) {
    static const std::map<std::string, std::string, std::less<>> levels{{"Package", "pack"}, {"Socket", "pack"}, {"NUMANode", "numa"},
                                                                        {"Die", "die"},      {"L3Cache", "l3"},  {"L2Cache", "l2"},
                                                                        {"Core", "core"},    {"PU", "pu"}};
    const auto type = object.find("type");
    if (type == object.end()) return "";
    if (type->second == "Cache") {
        const auto depth = object.find("depth");
        return depth == object.end() ? "" : depth->second == "3" ? "l3" : depth->second == "2" ? "l2" : "";
    }
    const auto known = levels.find(type->second);
    return known == levels.end() ? "" : known->second;
}

void add_object(std::string_view tag, NodeTopology& topology) {
    const auto object = attributes_of(tag);
    const auto name = level_of(object);
    const auto cpuset = object.find("cpuset");
    if (name.empty() || cpuset == object.end()) return;
    CpuSet cpus = parse_bitmap(cpuset->second);
    if (cpus.empty()) return;  // memory without processors
    auto level = std::ranges::find(topology.levels, name, &NodeTopology::Level::name);
    if (level == topology.levels.end()) level = topology.levels.insert(topology.levels.end(), {name, {}});
    level->units.push_back(std::move(cpus));
}

}  // namespace

NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source) {
    NodeTopology topology;
    topology.source = source;
    if (text.find("<topology") == std::string::npos)
        throw Error(source + " is not a topology of hwloc: write one with 'lstopo --of xml FILE.xml'");
    for (std::size_t at = 0; (at = text.find("<object", at)) != std::string::npos;) {
        const auto end = text.find('>', at);
        if (end == std::string::npos) throw Error(source + " ends within an object: it was cut off");
        add_object(std::string_view(text).substr(at, end - at), topology);
        at = end;
    }
    if (topology.levels.empty()) throw Error(source + " describes no processor: write it with 'lstopo --of xml' on the machine itself");
    return nested(std::move(topology));
}

NodeTopology read_hwloc_xml(const std::string& path) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) throw Error("cannot read the topology " + path + ": check the path");
    if (!std::filesystem::is_regular_file(status)) throw Error("the topology " + path + " is not a regular file: give the XML file itself");
    std::ifstream file(path, std::ios::binary);
    std::string text(most_topology_bytes + 1, '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())
        throw Error("cannot read the topology " + path + ": check its permissions");
    if (file.gcount() > most_topology_bytes)
        throw Error("the topology " + path + " has more than " + std::to_string(most_topology_bytes) + " bytes: no node's has");
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_hwloc_xml(text, "file " + path);
}

}  // namespace parhelion::placement
