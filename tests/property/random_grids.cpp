// Random structured domains against values computed from global coordinates.
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

using namespace test;

CASE("random structured domains: every ghost and every owner is right") {
    for_random_cases(affordable(60), [](Random& random) {
        const CartesianDomain domain = random_domain(random);
        const Pattern pattern = build_pattern(domain), points = build_pattern(domain.staggered(1));
        CAPTURE(describe(pattern));
        verify(pattern);
        verify(points);
        const Route route = random.pick(all_routes());
        CAPTURE(route.transport);
        auto fields = random_fields(random, domain, route.memory);
        Exchange exchange(domain, views(fields), {route.transport});
        check_forward(exchange, fields, 0);
        check_reverse(exchange, fields, Reduction::sum, domain.algorithm() == Algorithm::staged, 1);
        check_forward(exchange, fields, 2);
        check_reverse(exchange, fields, Reduction::replace, domain.algorithm() == Algorithm::staged,
                      3);
    });
}
