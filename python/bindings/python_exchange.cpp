#include "python_exchange.hpp"

#include <array>
#include <string_view>

namespace parhelion::python {
namespace {

// In the order in which messages name them.
constexpr std::array<std::pair<std::string_view, Reduction>, 7> reductions{{
    {"sum", Reduction::sum},
    {"prod", Reduction::prod},
    {"min", Reduction::min},
    {"max", Reduction::max},
    {"replace", Reduction::replace},
    {"bit_and", Reduction::bit_and},
    {"bit_or", Reduction::bit_or},
}};

}  // namespace

Reduction parse_reduction(const std::string& name) {
    for (const auto& [known, reduction] : reductions)
        if (known == name) return reduction;
    throw Error("unknown reduction '" + name + "': use " + reduction_names(" or "));
}

std::string reduction_names(const std::string& before_last) {
    std::string names;
    for (const auto& [name, reduction] : reductions)
        names += (names.empty() ? "" : name == reductions.back().first ? before_last : ", ") + std::string(name);
    return names;
}

}  // namespace parhelion::python
