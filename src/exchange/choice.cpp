#include "exchange/choice.hpp"

#include <algorithm>
#include <cstdlib>

#include "parhelion/core/error.hpp"

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
                    "+mpi_persistent");
    return {&near, &thin, &far, staging};
}

std::string requested_transport(const std::string& from_options) {
    if (!from_options.empty()) return from_options;
    const char* from_environment = std::getenv("PARHELION_TRANSPORT");
    return from_environment != nullptr && *from_environment != '\0' ? from_environment : "auto";
}

}  // namespace parhelion
