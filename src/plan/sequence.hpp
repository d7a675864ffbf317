// Plans that fetch the same ghosts dimension by dimension.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "pattern/by_dimensions.hpp"

namespace parhelion {

/// Order of forward ghosts: from all neighbors at once; dimension by dimension, those across nodes
/// first; or only these one by one, then all neighbors on the node at once.
enum class Sequence : std::uint8_t { direct, by_dimension, far_by_dimension };

/// "", "by_dimension", "far_by_dimension".
const char* name_of(Sequence sequence);

/// Facts about the patterns' dimensions: nonzero sums over all ranks mean yes.
class SequenceSurvey {
 public:
  static constexpr std::size_t words = 2 + 2 * max_dimensions;
  /// Local.
  explicit SequenceSurvey(const Plan& plan);
  /// From the sums over all ranks.
  explicit SequenceSurvey(const std::uint64_t* sums);

  const std::array<std::uint64_t, words>& told() const { return words_; }
  /// Whether the sequence fills the same ghosts with fewer messages.
  bool serves(Sequence sequence) const;
  /// Dimensions that each stage fetches.
  std::vector<DimensionSet> stages(Sequence sequence) const;

 private:
  bool near(int d) const { return words_[2 + 2 * d] > 0; }
  bool far(int d) const { return words_[3 + 2 * d] > 0; }
  std::array<std::uint64_t, words> words_{};
};

/// Compiles `plan`, of one stage, into `stages`. Local: its neighbors are among those of `plan`.
/// Cartesian patterns must fill their corners (fills_corners); indexed ones travel in the first
/// stage.
Plan plan_in_stages(const Plan& plan, const std::vector<DimensionSet>& stages);

/// Forward plan in this order; null for direct. Local. Throws Error on all ranks if the survey
/// excludes the order. `plan` must outlive it.
std::shared_ptr<const Plan> plan_in_order(
    const Plan& plan, const SequenceSurvey& survey, Sequence sequence);

}  // namespace parhelion
