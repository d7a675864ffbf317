#include "exchange/auto_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "exchange/staging.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {
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
