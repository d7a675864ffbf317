#include "python_exchange.hpp"

namespace parhelion::python {

Reduction parse_reduction(const std::string& name) {
    for (int kind = 0; kind < Reduction::user; ++kind)
        if (const Reduction one = static_cast<Reduction::Kind>(kind); to_string(one) == name) return one;
    throw Error("unknown reduction '" + name + "': use " + reduction_names(" or "));
}

std::string reduction_names(const std::string& before_last) {
    std::string names;
    for (int kind = 0; kind < Reduction::user; ++kind)
        names += (kind == 0 ? "" : kind + 1 == Reduction::user ? before_last : ", ") + to_string(static_cast<Reduction::Kind>(kind));
    return names;
}

}  // namespace parhelion::python
