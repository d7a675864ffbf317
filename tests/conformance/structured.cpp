// Every ghost of structured grids, over every transport, in both directions.
#include <doctest/doctest.h>

#include "grid_cases.hpp"
#include "support/exchanging.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

std::vector<Element> combinable(Reduction reduction) {
    std::vector<Element> elements;
    for (Element element : all_elements())
        if (supports(reduction, element.scalar)) elements.push_back(element);
    return elements;
}

// Each case with each route; every visit has another `turn`, so that all element types and layouts meet all routes.
template <class Visit>
void for_each_case(Visit&& visit) {
    int turn = 0;
    for (const GridCase& each : grid_cases(Communicator().size())) {
        const CartesianDomain domain(each.extents, each.options);
        const Pattern pattern = build_pattern(domain);
        for (const Route& route : all_routes()) {
            CAPTURE(each.name);
            CAPTURE(route.transport);
            visit(domain, pattern, route, turn++);
        }
    }
}

}  // namespace

TEST_CASE("every ghost of a structured grid holds its owner's value, twice in a row") {
    for_each_case([](const CartesianDomain& domain, const Pattern& pattern, const Route& route, int turn) {
        auto fields = make_fields(domain, 4, turn, route.memory);
        Exchange exchange(pattern, views(fields), {route.transport});
        for (int round = 0; round < 2; ++round) check_forward(exchange, fields, round);
    });
}

TEST_CASE("every owner of a structured grid gets the sum of its ghosts, exactly on whole numbers") {
    const auto elements = combinable(Reduction::sum);
    for_each_case([&](const CartesianDomain& domain, const Pattern& pattern, const Route& route, int turn) {
        auto fields = make_fields(domain, 3, turn, route.memory, elements);
        Exchange exchange(pattern, views(fields), {route.transport});
        const bool staged = domain.algorithm() == Algorithm::staged;
        for (int round = 0; round < 2; ++round) check_reverse(exchange, fields, Reduction::sum, staged, round);
        check_forward(exchange, fields, 2);
    });
}

TEST_CASE("an owner combines its ghosts by minimum, maximum, bits, or takes their value") {
    int turn = 0;
    for (const GridCase& each : grid_cases(Communicator().size())) {
        const CartesianDomain domain(each.extents, each.options);
        for (const Reduction reduction : {Reduction::min, Reduction::max, Reduction::replace, Reduction::bit_and, Reduction::bit_or}) {
            CAPTURE(each.name);
            CAPTURE(static_cast<int>(reduction));
            const auto routes = all_routes();
            const Route& route = routes[static_cast<std::size_t>(turn) % routes.size()];
            auto fields = make_fields(domain, 2, turn++, route.memory, combinable(reduction));
            Exchange exchange(build_pattern(domain), views(fields), {route.transport});
            check_reverse(exchange, fields, reduction, domain.algorithm() == Algorithm::staged, 0);
        }
    }
}
