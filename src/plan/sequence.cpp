#include "plan/sequence.hpp"

#include <algorithm>
#include <bit>

#include "core/concat.hpp"
#include "plan/compile.hpp"

namespace parhelion {
namespace {

// Copies the neighbor's handshake data; false without: subsets drop links that move nothing.
bool learn(const std::vector<LinkPlan>& known, LinkPlan& link) {
  const auto same = std::ranges::find(known, link.rank, &LinkPlan::rank);
  if (same == known.end()) return false;
  link.orders = same->orders;
  link.small = same->small;
  link.record = same->record;
  return true;
}

}  // namespace

Plan plan_in_stages(const Plan& plan, const std::vector<DimensionSet>& stages) {
  Plan ordered = plan;
  ordered.patterns.clear();
  ordered.stages.clear();
  for (const auto& pattern : plan.patterns)
    ordered.patterns.push_back(std::make_shared<const Pattern>(by_dimensions(*pattern, stages)));
  merge_stages(ordered);
  for (StagePlan& stage : ordered.stages)
    std::erase_if(
        stage.links, [&](LinkPlan& link) { return !learn(plan.stages.front().links, link); });
  compile_stages(ordered);
  return ordered;
}

const char* name_of(Sequence sequence) {
  static constexpr const char* names[] = {"", "by_dimension", "far_by_dimension"};
  return names[static_cast<std::size_t>(sequence)];
}

// Words: patterns without corners; messages that forwarding replaces; per dimension, face neighbors
// on this node and on others.
SequenceSurvey::SequenceSurvey(const Plan& plan) {
  const Communicator& comm = plan.communicator();
  const auto add_link = [&](const Pattern& pattern, const Link& link) {
    bool beside = false;
    const std::size_t far = comm.node_rank(link.rank) < 0;
    for (const BoxPiece& piece : link.receive.boxes) {
      const DimensionSet ghosts = ghost_dimensions(piece, pattern.dimensions);
      if (!std::has_single_bit(ghosts)) continue;
      beside = true;
      ++words_[2 + 2 * std::countr_zero(ghosts) + far];
    }
    if (!beside && !link.receive.boxes.empty()) ++words_[1];
  };
  for (const auto& pattern : plan.patterns) {
    if (pattern->indexed()) continue;
    if (!fills_corners(*pattern)) ++words_[0];
    else
      for (const Link& link : pattern->stages.front())
        if (link.rank != comm.rank()) add_link(*pattern, link);
  }
}

SequenceSurvey::SequenceSurvey(const std::uint64_t* sums) {
  std::copy_n(sums, words, words_.begin());
}

bool SequenceSurvey::serves(Sequence sequence) const {
  if (sequence == Sequence::direct) return true;
  if (words_[0] > 0 || words_[1] == 0) return false;
  return sequence == Sequence::by_dimension ||
         (stages(sequence).size() > 1 && stages(sequence) != stages(Sequence::by_dimension));
}

// Between nodes first: these messages are smallest then, and the node forwards the values.
std::vector<DimensionSet> SequenceSurvey::stages(Sequence sequence) const {
  std::vector<DimensionSet> stages;
  unsigned near_ones = 0, own_ones = 0;
  for (int d = 0; d < max_dimensions; ++d)
    if (far(d)) stages.push_back(1u << d);
    else (near(d) ? near_ones : own_ones) |= 1u << d;
  if (sequence == Sequence::by_dimension) {
    for (int d = 0; d < max_dimensions; ++d)
      if ((near_ones >> d & 1) != 0) stages.push_back(1u << d);
    near_ones = 0;
  }
  if (near_ones != 0) stages.push_back(near_ones);
  if (stages.empty()) stages.push_back(0);
  stages.back() = stages.back() | own_ones;  // own periodic copies need no message
  return stages;
}

std::shared_ptr<const Plan> plan_in_order(
    const Plan& plan, const SequenceSurvey& survey, Sequence sequence) {
  if (sequence == Sequence::direct) return nullptr;
  if (!survey.serves(sequence))
    refuse("the exchange cannot use '", name_of(sequence),
        ":', which is for stencils with edges and corners, where some rank has a diagonal "
        "neighbor: use the transport alone");
  return std::make_shared<const Plan>(plan_in_stages(plan, survey.stages(sequence)));
}

}  // namespace parhelion
