#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <unordered_set>
#include <utility>
#include <vector>

#include "environment_names.hpp"

namespace parhelion::bench {

namespace {

std::vector<std::string> lines_of(const char* text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    return lines;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::unordered_set<std::string> known_names() {
    std::unordered_set<std::string> names;
    std::vector<std::string> prefixes;
    for (const std::string& line : lines_of(variable_names)) {
        if (line[0] == '[') {
            prefixes = words_of(line.substr(1, line.find(']') - 1));
            if (prefixes.empty()) prefixes.emplace_back();
            continue;
        }
        for (const std::string& name : words_of(line))
            for (const std::string& prefix : prefixes) names.insert(prefix + name);
    }
    return names;
}

std::vector<std::regex> patterns(const std::string& kind) {
    std::vector<std::regex> found;
    for (const std::string& line : lines_of(secret_patterns))
        if (line.rfind(kind + " ", 0) == 0) found.emplace_back(line.substr(kind.size() + 1), std::regex::ECMAScript | std::regex::icase);
    return found;
}

bool any_matches(const std::vector<std::regex>& patterns, const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::regex& p) { return std::regex_search(text, p); });
}

}  // namespace

bool smells_of_a_secret(const std::string& name, const std::string& value) {
    static const std::vector<std::regex> names = patterns("name"), values = patterns("value");
    return any_matches(names, name) || any_matches(values, value);
}

nlohmann::json known_variables() {
    const std::unordered_set<std::string> known = known_names();
    nlohmann::json found = nlohmann::json::object();
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
        if (known.contains(name) && !smells_of_a_secret(name, value)) found[name] = value;
    }
    return found;
}

}  // namespace parhelion::bench
