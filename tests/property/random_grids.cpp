// Random structured domains, compared with values from global coordinates.
#include <cstring>

#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Whether a subset fills this ghost of the block.
bool is_wanted(const Box& owned, const Coordinates& cell, const Only& only, int dimensions) {
  int beyond = 0;
  for (int d = 0; d < dimensions; ++d) {
    const global_index below = owned.lo[d] - cell[d], above = cell[d] - owned.hi[d] + 1;
    if (below > only.depth.lower[d] || above > only.depth.upper[d]) return false;
    beyond += below > 0 || above > 0;
  }
  return beyond < 2 || only.neighbors == Neighbors::full;
}

}  // namespace

CASE("random structured domains: every ghost and every owner is right") {
  for_random_cases(affordable(60), [](Random& random) {
    const CartesianDomain domain = random_domain(random);
    const Pattern pattern = build_pattern(domain);
    CAPTURE(describe(pattern));
    const Route route = random.pick(all_routes());
    CAPTURE(route.transport);
    auto fields = random_fields(random, domain, route.memory);
    Exchange exchange(domain, views(fields), {route.transport});
    check_forward(exchange, fields, 0);
    check_reverse(
        exchange, fields, Reduction::sum, domain.algorithm() == Algorithm::by_dimension, 1);
    check_forward(exchange, fields, 2);
    check_reverse(
        exchange, fields, Reduction::replace, domain.algorithm() == Algorithm::by_dimension, 3);
  });
}

CASE("random sides, depths and faces of random domains are what the whole does there") {
  for_random_cases(affordable(60), [](Random& random) {
    const CartesianDomain domain = random_domain(random);
    const int dimensions = domain.dimensions();
    const Route route = random.pick(all_routes());
    const std::string& transport = route.transport;
    CAPTURE(transport);
    const GridSpec spec{{Scalar::int64, 8}, random.between(1, 2), domain.halo(),
        random.pick(std::vector<Layout>{Layout::c, Layout::scattered})};
    const Pattern pattern = build_pattern(domain, spec.halo);
    CAPTURE(describe(pattern));
    std::vector<GridField> fields;
    fields.emplace_back(
        domain, spec, 0, route.memory == Memory::slow ? Memory::slow : Memory::node_shared);
    GridField& field = fields.front();
    Exchange whole(domain, views(fields), {transport});
    for (int round = 0; round < 3; ++round) {
      Only only{.depth = spec.halo};
      if (random.chance(70)) only.neighbors = Neighbors::faces;
      for (int d = 0; d < dimensions; ++d)
        for (auto* side : {&only.depth.lower, &only.depth.upper})
          if (random.chance(40)) (*side)[d] = random.between(0, (*side)[d]);
      CAPTURE(to_string(whole.plan(), resolve(whole.plan(), only), {0}));
      const auto for_values = [&](auto&& use) {
        for (int b = 0; b < static_cast<int>(pattern.blocks.size()); ++b) {
          const auto number = static_cast<std::size_t>(b);
          const Box &owned = pattern.blocks[number],  // includes owned ends
              &cells = domain.blocks()[number].owned;
          if (owned.empty()) continue;
          for_each_cell(grow(cells, spec.halo, dimensions), [&](const Coordinates& cell) {
            for (int c = 0; c < spec.components; ++c) {
              std::int64_t value;  // arrays may be unaligned
              std::memcpy(&value, field.at(b, cell, c), sizeof value);
              use(value, contains(owned, cell), is_wanted(owned, cell, only, dimensions));
              std::memcpy(field.at(b, cell, c), &value, sizeof value);
            }
          });
        }
      };
      const auto values = [&] {
        std::vector<std::int64_t> all;
        for_values([&](std::int64_t value, bool, bool) { all.push_back(value); });
        return all;
      };
      field.fill(Values::whole, round), field.fill_ghosts(Reduction::sum);
      const auto start = field.copy();
      const auto before = values();
      const bool reverse = round == 1;
      if (reverse)
        for_values([&](std::int64_t& value, bool is_owned, bool wanted) {
          if (!is_owned && !wanted) value = 0;
        });
      reverse ? whole.reverse() : whole();
      const auto right = values();
      field.restore(start);
      Exchange subset = whole.only(only);
      reverse ? subset.reverse() : subset();
      std::size_t i = 0, wrong = 0;
      for_values([&](std::int64_t value, bool is_owned, bool wanted) {
        const bool ghost_given = reverse && !is_owned;
        if (!ghost_given) wrong += value != (is_owned || wanted ? right : before)[i];
        ++i;
      });
      EXPECT_EQ(wrong, std::size_t{0});
      EXPECT_TRUE(field.canaries_intact());
    }
  });
}
