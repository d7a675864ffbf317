// Local search on a whole map: exchanges of points between units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parhelion/placement/placement.hpp"

namespace parhelion::placement {

/// Neighbors of every point, along the edges and against them.
class Neighborhood {
public:
    struct Edge {
        int point;
        std::int64_t bytes;
    };

    Neighborhood(const ProcessGrid& grid, const Stencil& stencil);
    /// Of any graph: whom each point sends to. Edges to itself are dropped.
    explicit Neighborhood(std::vector<std::vector<Edge>> to);

    /// Points that `point` sends to, and those that send to it.
    const std::vector<Edge>& to(int point) const { return to_[point]; }
    const std::vector<Edge>& from(int point) const { return from_[point]; }
    int points() const { return static_cast<int>(to_.size()); }
    template <class Visit>
    void for_each(int point, const Visit& visit) const {
        for (const auto* edges : {&to_[point], &from_[point]})
            for (const auto& edge : *edges) visit(edge);
    }

private:
    std::vector<std::vector<Edge>> to_, from_;
};

/// Improves `positions` (by point) level by level, outermost first. The result is never worse at
/// the first level that changed. Stops after a fixed amount of work, so that every rank computes
/// the same.
void refine(const Machine& machine, const Neighborhood& neighborhood, Objective objective,
            std::vector<int>& positions);

/// Work that is enough for once: edges looked at, about 0.1 s.
inline constexpr std::int64_t most_work = 20'000'000;

/// Improves one level, each point staying in its unit of the level around it; chains begin at
/// `points`, where there are any, else at all. Returns the work done.
std::int64_t refine_level(const Machine& machine, const Neighborhood& neighborhood,
                          Objective objective, int level, std::vector<int>& positions,
                          std::int64_t most = most_work, const std::vector<int>& points = {});

/// Whether there is something to exchange between the units of a level.
bool has_several_ranks(const Machine& machine, int level);

/// The part of every vertex when the graph is cut into `parts` parts of about equal size; nothing
/// when METIS is not there or fails. `why` then says so.
std::optional<std::vector<int>> cut_with_metis(const Neighborhood& graph,
                                               const std::vector<int>& vertices, int parts,
                                               std::string& why);

}  // namespace parhelion::placement
