// Plans in stages, whatever dimensions each stage has.
#include <doctest/doctest.h>

#include "exchange/stages.hpp"
#include "plan/staged_plan.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"

using namespace test;

namespace {

// Every dimension in one of the stages, some together.
std::vector<DimensionSet> random_stages(Random& random, int dimensions) {
    std::vector<DimensionSet> stages(1 + random.next() % static_cast<unsigned>(dimensions));
    for (int d = 0; d < dimensions; ++d) stages[random.next() % stages.size()] |= static_cast<DimensionSet>(1u << d);
    return stages;
}

}  // namespace

TEST_CASE("dimensions in any order and grouping bring every ghost") {
    for_random_cases(affordable(40), [](Random& random) {
        const CartesianDomain domain = random_domain(random);
        const Pattern pattern = build_pattern(domain);
        if (!fills_corners(pattern)) return;
        CAPTURE(describe(pattern));
        auto fields = random_fields(random, domain, Memory::ordinary);
        const Plan plan = make_plan({{pattern, views(fields)}});
        const BoundArrays arrays(plan);
        const auto staged = std::make_shared<const Plan>(staged_plan(plan, random_stages(random, domain.dimensions())));
        Stages stages(plan, arrays, parse_choice("mpi_p2p"), staged);
        for (int round = 0; round < 2; ++round) {
            for (auto& field : fields) field.fill(Values::bits, round), field.expect_forward();
            stages.begin(Direction::forward);
            stages.end(20);
            for (const auto& field : fields) CHECK_EQ(field.difference(), "");
        }
    });
}
