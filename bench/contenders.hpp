#pragma once

#include <string>
#include <vector>

#include "contender.hpp"

namespace parhelion::bench {

/// A contender as a benchmark's table has it.
template <class Setup>
struct Named {
    const char* name;
    const char* role;
    ContenderPointer (*make)(const Setup&, SetupTimes&);
    bool only_by_name = false;
};

template <class Setup, std::size_t count>
void add_entries(std::vector<Entry>& entries, const Named<Setup> (&table)[count],
                 const Setup& setup) {
    for (const Named<Setup>& each : table)
        entries.push_back({each.name, each.role,
                           [=](SetupTimes& times) { return each.make(setup, times); },
                           each.only_by_name});
}

/// The entries that a job names, in its order; "all", or no name, stands for all but those that run
/// only by name. Throws Error listing the names there are when one is unknown: `what` such a name
/// is, and who has them.
std::vector<Entry> chosen(const std::vector<Entry>& all, const std::vector<std::string>& names,
                          const std::string& what = "contender",
                          const std::string& who = "this build");

}  // namespace parhelion::bench
