// Random structured domains against values computed from global coordinates.
#include <doctest/doctest.h>

#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

using namespace test;

TEST_CASE("random structured domains: every ghost and every owner is right") {
    for_random_cases(affordable(60), [](Random& random) {
        const CartesianDomain domain = random_domain(random);
        const Pattern pattern = build_pattern(domain);
        CAPTURE(describe(pattern));
        verify(pattern);
        const Route route = random.pick(all_routes());
        CAPTURE(route.transport);
        auto fields = random_fields(random, domain, route.memory);
        Exchange exchange(pattern, views(fields), {route.transport});
        check_forward(exchange, fields, 0);
        check_reverse(exchange, fields, Reduction::sum, domain.algorithm() == Algorithm::staged, 1);
        check_forward(exchange, fields, 2);
        check_reverse(exchange, fields, Reduction::replace, domain.algorithm() == Algorithm::staged, 3);
    });
}

// Where the ranks have no diagonal neighbors, or only blocks' faces travel, stages save nothing.
TEST_CASE("random structured domains in stages: every ghost is right, and the way back is the patterns' own") {
    int staged = 0;
    for_random_cases(affordable(40), [&](Random& random) {
        const CartesianDomain domain = random_domain(random);
        const Pattern pattern = build_pattern(domain);
        CAPTURE(describe(pattern));
        const Route route = random.pick(all_routes());
        auto fields = random_fields(random, domain, route.memory);
        const std::string name = "staged:" + (route.transport == "auto" ? "mpi_p2p" : route.transport);
        CAPTURE(name);
        try {
            Exchange exchange(pattern, views(fields), {name});
            CHECK(holds(exchange.explain(), name));
            check_forward(exchange, fields, 0);
            check_reverse(exchange, fields, Reduction::sum, false, 1);
            check_forward(exchange, fields, 2);
            ++staged;
        } catch (const Error& error) {
            if (!holds(error.what(), "cannot go by 'staged:'")) throw;
        }
    });
    if (Communicator(MPI_COMM_WORLD).size() >= 4) CHECK_GT(staged, 0);
}
