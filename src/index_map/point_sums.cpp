#include "parhelion/index_map/point_sums.hpp"

#include <optional>

#include "index_map/grid_points.hpp"
#include "index_map/shared_reduction.hpp"
#include "parhelion/core/doing.hpp"
#include "parhelion/core/error.hpp"

namespace parhelion {

struct PointSums::State {
    CartesianDomain domain;
    std::vector<Field> fields;
    PointLayout layout;
    std::vector<CellValues> made, given;
    std::optional<GridPoints> points;
    std::optional<SharedReduction> sums;
    Reduction reduction = Reduction::sum;

    State(const CartesianDomain& of, std::vector<Field> with, const ExchangeOptions& options) : domain(of), fields(std::move(with)) {
        const Doing doing(domain.communicator(), "the construction of sums of points", options.timeout_s);
        validate_together(domain.communicator(), [&] {
            if (fields.empty()) throw Error("no fields were passed: name those whose points are summed");
            layout = point_layout(domain, fields.front());
            take(fields);
            made = given;
        });
        points = find_grid_points(domain, layout);
        sums.emplace(points->shared, points->shared.pattern.owned, made, options);
    }

    void take(std::span<const Field> arrays) {
        given.clear();
        for (std::size_t f = 0; f < arrays.size(); ++f) {
            if (point_layout(domain, arrays[f]) != layout)
                throw Error("field " + std::to_string(f) + " has another stagger or layout than the first one was made with: pass arrays of one stagger, "
                            "equal extents and one order; sums of another one are an object of their own");
            append_values(domain, arrays[f], given);
        }
        if (!made.empty() && !sums->fits(given))
            throw Error("the arrays have other elements or components than these sums were made for: pass one for each field, in that order");
    }
    // Points that this rank has twice: values of the later place into the first one, or the sum back.
    void run_twice(bool back) {
        for (const CellValues& array : given) {
            const byte_count width = array.width();
            Program program;
            program.add_plain({0, 0, 0, 0, width, static_cast<byte_count>(points->first.size()), width, width,
                               (back ? points->first : points->again).data(), (back ? points->again : points->first).data(), array.element.scalar});
            parhelion::reduce(program, &array.owned.first, &array.owned.first, back ? Reduction::replace : reduction);
        }
    }
    void start(Reduction how, std::span<const Field> arrays) {
        if (sums->under_way()) throw Error("these sums are under way: end them first");
        take(arrays.empty() ? std::span<const Field>(fields) : arrays);
        for (const CellValues& array : given) require_reducible(array.element, how);
        reduction = how;
        run_twice(false);
    }
};

PointSums::PointSums(const CartesianDomain& domain, std::vector<Field> fields, ExchangeOptions options)
    : state_(std::make_unique<State>(domain, std::move(fields), options)) {}
PointSums::~PointSums() = default;
PointSums::PointSums(PointSums&&) noexcept = default;
PointSums& PointSums::operator=(PointSums&&) noexcept = default;

void PointSums::reduce(Reduction reduction, std::span<const Field> arrays) {
    state_->start(reduction, arrays);
    state_->sums->run(state_->given, reduction);
    state_->run_twice(true);
}

void PointSums::begin(Reduction reduction, std::span<const Field> arrays) {
    state_->start(reduction, arrays);
    state_->sums->begin(state_->given, reduction);
}

void PointSums::end() {
    if (!under_way()) throw Error("no sums are under way: call begin first");
    state_->sums->end();
    state_->run_twice(true);
}

bool PointSums::under_way() const { return state_->sums->under_way(); }

std::string PointSums::explain() const {
    const SharedPoints& shared = state_->points->shared;
    return std::to_string(shared.points.size()) + " points of this rank are shared, by up to " + std::to_string(shared.most_holders) + " ranks; " +
           std::to_string(state_->points->first.size()) + " it has twice\n" + state_->sums->exchange().explain();
}

}  // namespace parhelion
