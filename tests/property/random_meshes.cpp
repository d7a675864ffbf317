// Random index maps, compared with values from global ids.
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

using namespace test;

CASE("random index maps: every ghost and every owner is right") {
  for_random_cases(affordable(60), [](Random& random) {
    const RandomMesh made = random_mesh(random);
    const IndexedDomain domain = made.domain();
    const Pattern pattern = build_pattern(domain);
    CAPTURE(describe(pattern));
    const Route route = random.pick(all_routes());
    CAPTURE(route.transport);
    auto fields = random_fields(random, domain, made.mesh, route.memory);
    Exchange exchange(pattern, views(fields), {route.transport});
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::sum, false, 1);
    check_forward(exchange, fields, 2);
    check_reverse(exchange, fields, Reduction::replace, false, 3);
  });
}
