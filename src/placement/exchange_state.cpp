#include "exchange_state.hpp"

#include <algorithm>

#include "parhelion/placement/score.hpp"

namespace parhelion::placement {

Neighborhood::Neighborhood(const Problem& problem) {
    const Numbering numbering(max_dimensions);
    const auto& extent = problem.grid.extent;
    to_.resize(static_cast<std::size_t>(problem.grid.size()));
    for (int p = 0; p < points(); ++p)
        for (const auto& offset : problem.stencil.offsets) {
            Coords found{};
            if (!neighbor(problem.grid, numbering.coords(extent, p), offset.step, found)) continue;
            to_[static_cast<std::size_t>(p)].push_back({numbering.rank(extent, found), offset.bytes});
        }
    add_reverse();
}

Neighborhood::Neighborhood(std::vector<std::vector<Edge>> to) : to_(std::move(to)) { add_reverse(); }

void Neighborhood::add_reverse() {
    from_.resize(to_.size());
    for (int p = 0; p < points(); ++p) {
        std::erase_if(to_[static_cast<std::size_t>(p)], [&](const Edge& edge) { return edge.point == p; });
        for (const auto& edge : to_[static_cast<std::size_t>(p)]) from_[static_cast<std::size_t>(edge.point)].push_back({p, edge.bytes});
    }
}

ExchangeState::ExchangeState(const Neighborhood& neighborhood, Objective objective, std::vector<int> units, int count)
    : neighborhood_(neighborhood), objective_(objective), units_(std::move(units)), members_(static_cast<std::size_t>(count)),
      leaving_(static_cast<std::size_t>(count)) {
    for (int p = 0; p < neighborhood_.points(); ++p) {
        auto& members = members_[static_cast<std::size_t>(unit(p))];
        place_.push_back(static_cast<int>(members.size()));
        members.push_back(p);
        for (const auto& edge : neighborhood_.to(p))
            if (unit(edge.point) != unit(p)) leaving_[static_cast<std::size_t>(unit(p))] += edge.bytes, sum_ += edge.bytes;
    }
    set_ceiling(largest() - 1);
}

std::int64_t ExchangeState::largest() const { return *std::ranges::max_element(leaving_); }

void ExchangeState::set_ceiling(std::int64_t bytes) {
    ceiling_ = bytes;
    excess_ = 0;
    for (const auto leaving : leaving_) excess_ += std::max<std::int64_t>(0, leaving - ceiling_);
}

ExchangeState::Potential ExchangeState::potential() const {
    return objective_ == Objective::jsum ? Potential{sum_, excess_} : Potential{excess_, sum_};
}

void ExchangeState::change(int unit, std::int64_t bytes) {
    auto& leaving = leaving_[static_cast<std::size_t>(unit)];
    excess_ -= std::max<std::int64_t>(0, leaving - ceiling_);
    leaving += bytes;
    excess_ += std::max<std::int64_t>(0, leaving - ceiling_);
    sum_ += bytes;
}

void ExchangeState::count(int point, int sign) {
    const int own = unit(point);
    for (const auto& edge : neighborhood_.to(point))
        if (unit(edge.point) != own) change(own, sign * edge.bytes);
    for (const auto& edge : neighborhood_.from(point))
        if (unit(edge.point) != own) change(unit(edge.point), sign * edge.bytes);
    work_ += static_cast<std::int64_t>(neighborhood_.to(point).size() + neighborhood_.from(point).size());
}

void ExchangeState::move(int point, int to) {
    count(point, -1);
    auto& old = members_[static_cast<std::size_t>(unit(point))];
    int& place = place_[static_cast<std::size_t>(point)];
    place_[static_cast<std::size_t>(old.back())] = place;
    old[static_cast<std::size_t>(place)] = old.back();
    old.pop_back();
    auto& now = members_[static_cast<std::size_t>(to)];
    place = static_cast<int>(now.size());
    now.push_back(point);
    units_[static_cast<std::size_t>(point)] = to;
    count(point, +1);
}

}  // namespace parhelion::placement
