#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/concat.hpp"
#include "node_topology.hpp"
#include "parhelion/core/error.hpp"
#include "parhelion/placement/limits.hpp"

namespace parhelion::placement {
namespace {

// name="value" in a tag. hwloc escapes only characters that do not occur in these attributes.
std::string attribute(const std::string& tag, const std::string& name) {
    const auto at = tag.find(" " + name + "=\"");
    if (at == std::string::npos) return "";
    const auto begin = at + name.size() + 3;
    return tag.substr(begin, tag.find('"', begin) - begin);
}

// "0x0000000f,0xffffffff": 32 bits each, most significant first.
CpuSet parse_bitmap(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) words.insert(words.begin(), word);
    CpuSet cpus;
    for (std::size_t i = 0; i < words.size(); ++i)
        for (int bit = 0; bit < 32; ++bit)
            if (std::strtoul(words[i].c_str(), nullptr, 16) >> bit & 1)
                cpus.push_back(static_cast<int>(32 * i) + bit);
    return cpus;
}

// Level of an object by hwloc's type. Format 1 wrote caches as type "Cache" with a depth.
std::string level_of(const std::string& tag) {
    static const std::map<std::string, std::string> levels{
        {"Package", "pack"}, {"Socket", "pack"}, {"NUMANode", "numa"}, {"Die", "die"},
        {"L3Cache", "l3"},   {"Cache3", "l3"},   {"L2Cache", "l2"},    {"Cache2", "l2"},
        {"Core", "core"},    {"PU", "pu"}};
    auto type = attribute(tag, "type");
    if (type == "Cache") type += attribute(tag, "depth");
    const auto known = levels.find(type);
    return known == levels.end() ? "" : known->second;
}

void add_object(const std::string& tag, NodeTopology& topology) {
    const auto name = level_of(tag);
    CpuSet cpus = parse_bitmap(attribute(tag, "cpuset"));
    if (name.empty() || cpus.empty()) return;  // memory without processors
    auto level = std::ranges::find(topology.levels, name, &NodeTopology::Level::name);
    if (level == topology.levels.end())
        level = topology.levels.insert(topology.levels.end(), {name, {}});
    level->units.push_back(std::move(cpus));
}

}  // namespace

NodeTopology parse_hwloc_xml(const std::string& text, const std::string& source) {
    NodeTopology topology{{}, source};
    if (text.find("<topology") == std::string::npos)
        throw Error(source +
                    " is not a topology of hwloc: write one with 'lstopo --of xml FILE.xml'");
    for (std::size_t at = 0; (at = text.find("<object", at)) != std::string::npos;) {
        const auto end = text.find('>', at);
        if (end == std::string::npos)
            throw Error(source + " ends within an object: it was cut off");
        add_object(text.substr(at, end - at), topology);
        at = end;
    }
    if (topology.levels.empty())
        throw Error(
            source +
            " describes no processor: write it with 'lstopo --of xml' on the machine itself");
    return nested(std::move(topology));
}

NodeTopology read_hwloc_xml(const std::string& path) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status))
        throw Error("cannot read the topology " + path + ": check the path");
    if (!std::filesystem::is_regular_file(status))
        throw Error("the topology " + path + " is not a regular file: give the XML file itself");
    std::ifstream file(path, std::ios::binary);
    std::string text(most_topology_bytes + 1, '\0');
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof())
        throw Error("cannot read the topology " + path + ": check its permissions");
    if (file.gcount() > most_topology_bytes)
        throw Error(concat("the topology ", path, " has more than ", most_topology_bytes,
                           " bytes: no node's has"));
    text.resize(file.gcount());
    return parse_hwloc_xml(text, "file " + path);
}

}  // namespace parhelion::placement
