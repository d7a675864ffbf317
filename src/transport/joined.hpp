// Copies for several neighbors by one launch on a device.
#pragma once

#include <algorithm>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "plan/device/device_executor.hpp"

namespace parhelion {

/// The ops of several programs, each with bases of its own on one side.
struct Joined {
  Program program = {};
  std::vector<std::byte*> bases = {};
  std::size_t missing = 0;                 ///< programs whose turn has not come yet
  std::vector<const void*> repeated = {};  ///< compiled programs, which outlive it

  /// `own`: the bases of the sources, else of the destinations.
  void take(const Program& each, const std::vector<std::byte*>& own, bool sources) {
    const auto add = [&](auto& all, const auto& ops) {
      for (auto op : ops) {
        (sources ? op.src_base : op.dst_base) += static_cast<int>(bases.size());
        all.push_back(op);
      }
    };
    add(program.strided, each.strided);
    add(program.indexed, each.indexed);
    add(program.runs, each.runs);
    program.dependence = std::max(program.dependence, each.dependence);
    if (each.compiled) repeated.push_back(each.compiled.get());
    bases.insert(bases.end(), own.begin(), own.end());
  }
  void compile(Executor& executor) { compile_repeating(executor, program, repeated); }
};

/// Whether a reverse exchange combines ghosts of others between those of two links of a stage: one
/// launch for both would change the order.
inline bool combines_between(const Plan& plan, const LinkPlan& link, const LinkPlan& next) {
  const int rank = plan.communicator().rank();
  const bool own = std::ranges::any_of(plan.stages, [&](const StagePlan& each) {
    return each.self && !each.links.empty() && &each.links.front() <= &link &&
           &link <= &each.links.back();
  });
  return (own && link.rank < rank && rank < next.rank) ||
         std::any_of(
             &link + 1, &next, [](const LinkPlan& each) { return each.reverse.receive_bytes > 0; });
}

}  // namespace parhelion
