// Random groups of structured and unstructured domains in one exchange, compared with values from
// coordinates and ids and with separate exchanges.
#include "support/any_group.hpp"
#include "support/cases.hpp"

using namespace test;

CASE("random groups: every ghost and every owner is right, as in exchanges of one group each") {
  for_random_cases(affordable(40), [](Random& random) {
    const Route route = random.pick(all_routes());
    AnyGroups groups;
    for (int g = random.between(1, 4); g > 0; --g)
      if (random.chance(50))
        groups.push_back(
            std::make_unique<GridGroup>(random_domain(random), [&](const CartesianDomain& domain) {
              return random_fields(random, domain, route.memory);
            }));
      else
        groups.push_back(std::make_unique<MeshGroup>(
            random_mesh(random), [&](const IndexedDomain& domain, const Mesh& mesh) {
              return random_fields(random, domain, mesh, route.memory);
            }));
    check_together(groups, route);
  });
}
