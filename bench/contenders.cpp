#include "contenders.hpp"

#include <algorithm>

#include "errors.hpp"

namespace parhelion::bench {

namespace {

std::string listed(const std::vector<Entry>& entries) {
    std::string names;
    for (const Entry& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
    return names;
}

}  // namespace

std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names,
                          const std::string& what, const std::string& who) {
    std::vector<Entry> entries;
    if (names.empty()) return chosen(all, {"all"});
    for (const std::string& name : names) {
        if (name == "all") {
            std::copy_if(all.begin(), all.end(), std::back_inserter(entries),
                         [](const Entry& e) { return !e.only_by_name; });
            continue;
        }
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.name == name; });
        if (found == all.end())
            throw Error("unknown " + what + " '" + name + "': " + who + " has " + listed(all));
        entries.push_back(*found);
    }
    return entries;
}

}  // namespace parhelion::bench
