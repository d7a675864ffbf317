// The units of one level while grid points are exchanged between them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "parhelion/placement/placement.hpp"
#include "problem.hpp"

namespace parhelion::placement {

/// Neighbors of every point, along the edges and against them.
class Neighborhood {
public:
    struct Edge {
        int point;
        std::int64_t bytes;
    };

    /// Of the grid's points under the stencil.
    explicit Neighborhood(const Problem& problem);
    /// Of any graph: whom each point sends to. Edges to itself are dropped.
    explicit Neighborhood(std::vector<std::vector<Edge>> to);

    /// Points that `point` sends to, and those that send to it.
    const std::vector<Edge>& to(int point) const { return to_[static_cast<std::size_t>(point)]; }
    const std::vector<Edge>& from(int point) const { return from_[static_cast<std::size_t>(point)]; }
    int points() const { return static_cast<int>(to_.size()); }

private:
    void add_reverse();
    std::vector<std::vector<Edge>> to_, from_;
};

/// What leaves the units of a level, kept up to date while points move.
class ExchangeState {
public:
    /// Smaller is better. First what the objective asks for, then the other.
    using Potential = std::pair<std::int64_t, std::int64_t>;

    ExchangeState(const Neighborhood& neighborhood, Objective objective, std::vector<int> units, int count);

    int unit(int point) const { return units_[static_cast<std::size_t>(point)]; }
    const std::vector<int>& members(int unit) const { return members_[static_cast<std::size_t>(unit)]; }
    Potential potential() const;
    void move(int point, int unit);

    /// What exceeds this counts as too much for one unit; starts one below the largest.
    void set_ceiling(std::int64_t bytes);
    std::int64_t largest() const;

    /// Edges looked at so far: the measure of work.
    std::int64_t work() const { return work_; }

private:
    void change(int unit, std::int64_t bytes);
    void count(int point, int sign);

    const Neighborhood& neighborhood_;
    Objective objective_;
    std::vector<int> units_;
    std::vector<std::vector<int>> members_;
    std::vector<int> place_;  ///< of a point among its unit's members
    std::vector<std::int64_t> leaving_;
    std::int64_t ceiling_ = 0, sum_ = 0, excess_ = 0, work_ = 0;
};

}  // namespace parhelion::placement
