#include "support/any_group.hpp"

#include <set>
#include <utility>

namespace test {
namespace {

std::vector<std::vector<std::byte>> copies_of(const AnyGroups& all) {
  std::vector<std::vector<std::byte>> copies;
  for (const auto& each : all) copies.push_back(each->copy());
  return copies;
}

// Sums of fractions, whose bits reveal the order of additions.
template <class Run>
std::vector<std::vector<std::byte>> rounded_sums(AnyGroups& groups, Run&& run) {
  for (auto& each : groups) each->prepare_reverse(Values::rounded, Reduction::sum, 7);
  run();
  return copies_of(groups);
}

}  // namespace

std::vector<Group> groups_of(const AnyGroups& all) {
  std::vector<Group> groups;
  for (const auto& each : all) groups.push_back(each->group());
  return groups;
}

int messages_of_all(const AnyGroups& all) {
  std::set<std::pair<std::size_t, int>> messages;
  for (const auto& each : all) {
    const Exchange alone({each->group()}, {.transport = "mpi"});
    for (std::size_t s = 0; s < alone.plan().stages.size(); ++s)
      for (const LinkPlan& link : alone.plan().stages[s].links)
        if (link.forward.send_bytes > 0) messages.emplace(s, link.rank);
  }
  return static_cast<int>(messages.size());
}

void check_together(AnyGroups& groups, const Route& route) {
  CAPTURE(route.transport);
  Exchange exchange(groups_of(groups), {.transport = route.transport});
  EXPECT_EQ(exchange.plan().messages_sent(), messages_of_all(groups));
  int round = 0;
  for (const Reduction reduction : {Reduction::sum, Reduction::replace}) {
    for (auto& each : groups) each->prepare_forward(round);
    exchange();
    exchange();
    for (auto& each : groups) each->check();
    for (auto& each : groups) each->prepare_reverse(Values::whole, reduction, ++round);
    exchange.reverse(reduction);
    for (auto& each : groups) each->check();
  }
  const auto together = rounded_sums(groups, [&] { exchange.reverse(); });
  const auto alone = rounded_sums(groups, [&] {
    for (auto& each : groups) Exchange({each->group()}, {.transport = "mpi"}).reverse();
  });
  EXPECT_EQ(together, alone);
}

}  // namespace test
