#include "python_exchange.hpp"

#include <array>
#include <string_view>

namespace parhelion::python {
namespace {

constexpr std::array<std::pair<std::string_view, Reduction>, 7> reductions{{
    {"sum", Reduction::sum},
    {"min", Reduction::min},
    {"max", Reduction::max},
    {"replace", Reduction::replace},
    {"bit_and", Reduction::bit_and},
    {"bit_or", Reduction::bit_or},
    {"prod", Reduction::prod},
}};

}  // namespace

Reduction parse_reduction(const std::string& name) {
    for (const auto& [known, reduction] : reductions)
        if (known == name) return reduction;
    throw Error("unknown reduction '" + name + "': use sum, prod, min, max, replace, bit_and or bit_or");
}

}  // namespace parhelion::python
