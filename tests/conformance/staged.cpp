// Exchanges dimension by dimension, over patterns that are not staged.
#include "exchange/stages.hpp"
#include "plan/sequence.hpp"
#include "support/cases.hpp"
#include "support/exchanging.hpp"
#include "support/random_domains.hpp"
#include "support/transports.hpp"

using namespace test;

namespace {

// Returns false if the constructor refuses: no messages saved, or (far_by_dimension) all ranks on
// one node.
bool goes(const std::string& name, const CartesianDomain& domain, std::vector<GridField>& fields) {
  CAPTURE(describe(build_pattern(domain)));
  CAPTURE(name);
  try {
    Exchange exchange(domain, views(fields), {name});
    EXPECT_TRUE(holds(exchange.explain(), name));
    check_forward(exchange, fields, 0);
    check_reverse(exchange, fields, Reduction::sum, false, 1);
    check_forward(exchange, fields, 2);
    return true;
  } catch (const Error& error) {
    if (!holds(error.what(), "cannot use '")) throw;
  }
  return false;
}

// Distributes the dimensions at random over stages.
std::vector<DimensionSet> random_stages(Random& random, int dimensions) {
  std::vector<DimensionSet> stages(1 + random.next() % static_cast<unsigned>(dimensions));
  for (int d = 0; d < dimensions; ++d)
    stages[random.next() % stages.size()] |= static_cast<DimensionSet>(1u << d);
  return stages;
}

}  // namespace

CASE("random domains in stages: every ghost is right, and the way back is the patterns' own") {
  const Communicator comm(MPI_COMM_WORLD);
  int staged = 0, staged_far = 0;
  for_random_cases(affordable(40), [&](Random& random) {
    const CartesianDomain domain = random_domain(random);
    const test::Route route = random.pick(all_routes());
    const std::string transport = route.transport == "auto" ? "mpi" : route.transport;
    auto fields = random_fields(random, domain, route.memory);
    staged += goes("by_dimension:" + transport, domain, fields);
    staged_far += goes("far_by_dimension:" + transport, domain, fields);
  });
  if (comm.size() == 4) EXPECT_GT(staged, 0);
  if (comm.node().size() == comm.size()) EXPECT_EQ(staged_far, 0);
}

CASE(
    "two ranks along each of three dimensions: three messages, or four where the last two go at "
    "once inside the node") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 8) return;
  const CartesianDomain domain({8, 8, 8}, {.halo = 1, .periodic = true, .process_grid = {2, 2, 2}});
  std::vector<GridField> fields;
  fields.emplace_back(
      domain, GridSpec{{Scalar::float64, 8}, 1, domain.halo()}, 0, Memory::ordinary);
  const auto told = [&](const std::string& name) {
    Exchange exchange(domain, views(fields), {name});
    EXPECT_EQ(exchange.plan().messages_sent(), 7);
    return exchange.explain();
  };
  EXPECT_TRUE(goes("by_dimension:mpi", domain, fields));
  EXPECT_TRUE(holds(told("by_dimension:mpi"), "sends 3 messages"));
  const bool several_nodes = comm.node().size() < comm.size();
  EXPECT_EQ(goes("far_by_dimension:mpi", domain, fields), several_nodes);
  if (several_nodes) EXPECT_TRUE(holds(told("far_by_dimension:mpi"), "sends 4 messages"));
}

CASE("dimensions in any order and grouping bring every ghost") {
  for_random_cases(affordable(40), [](Random& random) {
    const CartesianDomain domain = random_domain(random);
    const Pattern pattern = build_pattern(domain);
    if (domain.neighbors() != Neighbors::full || domain.algorithm() != Algorithm::standard) return;
    EXPECT_TRUE(fills_corners(pattern));
    CAPTURE(describe(pattern));
    auto fields = random_fields(random, domain, Memory::ordinary);
    const Plan plan = make_plan({Group(domain, views(fields))});
    const BoundArrays arrays(plan);
    const auto staged = std::make_shared<const Plan>(
        plan_in_stages(plan, random_stages(random, domain.dimensions())));
    Stages stages(plan, arrays, parse_choice("mpi"), staged);
    for (int round = 0; round < 2; ++round) {
      for (auto& field : fields) field.fill(Values::bits, round), field.expect_forward();
      stages.begin(Direction::forward);
      stages.end(20);
      for (const auto& field : fields) EXPECT_EQ(field.difference(), "");
    }
  });
}
