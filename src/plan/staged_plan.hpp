// A plan that fetches the same ghosts in several stages, dimension by dimension.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "parhelion/plan/plan.hpp"
#include "pattern/by_dimensions.hpp"

namespace parhelion {

/// In which order ghosts travel, forward. direct: from every neighbor at once. by_dimension: one
/// dimension after another, those that cross nodes first. far_by_dimension: those that cross nodes
/// one after another, then all neighbors on the own node at once.
enum class Sequence : std::uint8_t { direct, by_dimension, far_by_dimension };

/// "", "by_dimension", "far_by_dimension".
const char* name_of(Sequence sequence);

/// What ranks tell each other of their patterns' dimensions: words whose sums over all ranks are 0
/// or not.
class SequenceSurvey {
public:
    static constexpr std::size_t words = 2 + 2 * max_dimensions;
    /// Local.
    explicit SequenceSurvey(const Plan& plan);
    /// The sums.
    explicit SequenceSurvey(const std::uint64_t* sums);

    const std::array<std::uint64_t, words>& told() const { return words_; }
    /// Whether the sequence fills the same ghosts with fewer messages.
    bool serves(Sequence sequence) const;
    /// Which dimensions each stage fetches.
    std::vector<DimensionSet> stages(Sequence sequence) const;

private:
    bool near(int d) const { return words_[2 + 2 * static_cast<std::size_t>(d)] > 0; }
    bool far(int d) const { return words_[3 + 2 * static_cast<std::size_t>(d)] > 0; }
    std::array<std::uint64_t, words> words_{};
};

/// `plan` has one stage. No message, no collective call: its neighbors are among those of `plan`,
/// whose letters tell enough. Every Cartesian pattern of it fills its corners (fills_corners);
/// indexed ones travel with the first stage. Fields and arrays are those of `plan`.
Plan staged_plan(const Plan& plan, const std::vector<DimensionSet>& stages);

/// Local. The plan of the forward direction in this order; null for direct. Throws Error, on all
/// ranks, where it does not serve. `plan` must outlive it.
std::shared_ptr<const Plan> plan_in_order(const Plan& plan, const SequenceSurvey& survey,
                                          Sequence sequence);

}  // namespace parhelion
